import { definePlugin, GatewayError, type Exchange, type ModelDirectory, type Reply } from '../../src/plugin/index.ts';
import { readPage, toAnthropicModel, toAnthropicPage } from './anthropic.ts';
import { toCodexList } from './codex.ts';
import { toOpenAiList, toOpenAiModel } from './openai.ts';

/** Lists the models that a caller may use. Sends nothing upstream. */
export default definePlugin({
  name: 'models',
  level: 'entry',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['models'],
  requires: ['caller'],
  explain({ exchange: { operation, caller, reply, error } }) {
    if (!operation?.id.startsWith('models.') || !reply || error) return undefined;
    return { does: `lists the models that key ${caller?.keyId} may use; nothing is sent upstream` };
  },
  create({ host }) {
    const answers: Readonly<Record<string, Answer | undefined>> = { 'models.list': list, 'models.retrieve': retrieve };
    return function models(ctx, next) {
      const { exchange } = ctx;
      const answer = answers[exchange.operation?.id ?? ''];
      if (!answer) return next();
      exchange.reply = toReply(answer(host.models, exchange, ctx.querystring), exchange);
      return Promise.resolve();
    };
  },
});

type Answer = (directory: ModelDirectory, exchange: Exchange, query: string) => object;

/** The operation's format is the client's API. */
const isAnthropic = ({ operation }: Exchange): boolean => operation?.format.name === 'anthropic-messages';

function list(directory: ModelDirectory, exchange: Exchange, query: string): object {
  const page = isAnthropic(exchange) ? readPage(query) : undefined;
  const models = directory.list(exchange);
  if (page) return toAnthropicPage(models, page);
  return isCodex(query) ? toCodexList(models) : toOpenAiList(models);
}

/** Codex appends its version to the path of the list. */
const isCodex = (query: string): boolean => new URLSearchParams(query).has('client_version');

function retrieve(directory: ModelDirectory, exchange: Exchange): object {
  const id = exchange.request.params['id'] ?? '';
  const model = directory.find(exchange, id);
  if (!model) {
    // The same error for a model that does not exist and for one that the caller may not use, so that a caller cannot
    // tell them apart.
    throw new GatewayError(
      'model_not_found',
      `The model ${JSON.stringify(id.slice(0, 300))} does not exist, or this key may not use it. Models are named \`@slug/model\`.`,
      { param: 'model' },
    );
  }
  return isAnthropic(exchange) ? toAnthropicModel(model) : toOpenAiModel(model);
}

function toReply(body: object, { operation }: Exchange): Reply {
  const type = operation?.format.contentType.body ?? 'application/json';
  return { status: 200, headers: { 'content-type': type }, body: Buffer.from(JSON.stringify(body)), stream: false };
}
