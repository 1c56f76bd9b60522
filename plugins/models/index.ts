import {
  definePlugin,
  jsonReply,
  nearest,
  type Exchange,
  type ListedModel,
  type ModelDirectory,
} from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { readPage, toAnthropicModel, toAnthropicPage } from './anthropic.ts';
import { toCodexList, toOpenAiList, toOpenAiModel } from './openai.ts';
import { readWindow, toGeminiModel, toGeminiPage, toVertexModel, toVertexPage } from './gemini.ts';

/** Lists the models that a caller may use. Sends nothing upstream. */
export default definePlugin({
  name: 'models',
  level: 'entry',
  needs: ['models'],
  requires: ['caller'],
  idleFor: (operation) => operation?.id.startsWith('models.') !== true,
  explain({ exchange: { operation, caller, reply, error } }) {
    if (!operation?.id.startsWith('models.') || !reply || error) return undefined;
    return { does: `lists the models that key ${caller?.keyId} may use; nothing is sent upstream` };
  },
  create({ host }) {
    const answers: Readonly<Record<string, ListModels | undefined>> = {
      'models.list': list,
      'models.retrieve': retrieve,
    };
    return function models(ctx, next) {
      const { exchange } = ctx;
      const answer = answers[exchange.operation?.id ?? ''];
      if (!answer) return next();
      exchange.reply = jsonReply(answer(host.models, exchange, ctx.querystring), exchange.operation?.format);
      return Promise.resolve();
    };
  },
});

type ListModels = (directory: ModelDirectory, exchange: Exchange, query: string) => object;

interface Forms {
  /** Throws GatewayError for a wrong query, before the models are listed. */
  readonly page: (query: string) => (models: readonly ListedModel[]) => object;
  readonly model: (model: ListedModel) => object;
}

/** A list by pages, whose query is read before the models are listed. */
const paged =
  <Page>(read: (query: string) => Page, write: (models: readonly ListedModel[], page: Page) => object): Forms['page'] =>
  (query) => {
    const page = read(query);
    return (models) => write(models, page);
  };

const FORMS: Readonly<Partial<Record<string, Forms>>> = {
  'anthropic-messages': { page: paged(readPage, toAnthropicPage), model: toAnthropicModel },
  gemini: { page: paged(readWindow, toGeminiPage), model: toGeminiModel },
  publisher: { page: paged(readWindow, toVertexPage), model: toVertexModel },
};

const OPENAI: Forms = { page: (query) => (isCodex(query) ? toCodexList : toOpenAiList), model: toOpenAiModel };

/** The operation's format is the client's API. Vertex AI's lists, at paths of its own, have another form than those of Google's other API. */
const formsOf = ({ operation }: Exchange): Forms =>
  FORMS[operation?.provider === undefined ? (operation?.format.name ?? '') : 'publisher'] ?? OPENAI;

function list(directory: ModelDirectory, exchange: Exchange, query: string): object {
  const page = formsOf(exchange).page(query);
  return page(directory.list(exchange));
}

/** Codex appends its version to the path of the list. */
const isCodex = (query: string): boolean => new URLSearchParams(query).has('client_version');

/** Google's client takes the slug for the publisher. */
function idIn({ request: { params } }: Exchange): string {
  const { id = '', publisher = '' } = params;
  return publisher.startsWith('@') ? `${publisher}/${id}` : id;
}

function retrieve(directory: ModelDirectory, exchange: Exchange): object {
  const id = idIn(exchange);
  const model = directory.find(exchange, id);
  if (!model) {
    const meant = nearest(
      id.slice(0, 300),
      directory.list(exchange).map((listed) => listed.id),
    );
    const hint = meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
    // The same error for both: a caller must not learn which models it may not use.
    throw new GatewayError(
      'model_not_found',
      `The model ${JSON.stringify(id.slice(0, 300))} does not exist, or this key may not use it. Models are named \`@slug/model\`.${hint}`,
      { param: 'model' },
    );
  }
  return formsOf(exchange).model(model);
}
