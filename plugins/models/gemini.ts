import { compareModelIds, type ListedModel } from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';

/** Query parameters of the list (docs/protocols/gemini.md#models). */
interface ModelWindow {
  readonly size: number;
  /** The id after which the page begins; it may no longer exist. */
  readonly after: string | undefined;
}

const DEFAULT_SIZE = 50;
const MAX_SIZE = 1000;

/** A larger size is cut to the greatest, as the API does. Throws GatewayError. */
export function readWindow(query: string): ModelWindow {
  const params = new URLSearchParams(query);
  const one = (camel: string, snake: string): string | undefined => params.get(camel) || params.get(snake) || undefined;
  const size = one('pageSize', 'page_size');
  const token = one('pageToken', 'page_token');
  if (size !== undefined && !/^[0-9]{1,9}$/.test(size))
    throw new GatewayError('invalid_value', 'The query parameter `pageSize` must be a whole number.', {
      param: 'pageSize',
    });
  const after = token === undefined ? undefined : Buffer.from(token, 'base64url').toString();
  return { size: Math.min(Number(size ?? 0) || DEFAULT_SIZE, MAX_SIZE), after };
}

/** Google's client shows `displayName`, which Vertex AI itself does not send. */
export const toVertexModel = ({ id, name }: ListedModel): object => ({
  name: `publishers/google/models/${id}`,
  versionId: 'default',
  displayName: name,
});

const METHODS: Readonly<Partial<Record<ListedModel['tasks'][number], readonly string[]>>> = {
  generate: ['generateContent', 'streamGenerateContent'],
  count_tokens: ['countTokens'],
  embeddings: ['embedContent', 'batchEmbedContents'],
};

/** Limits and `thinking` are left out for models of which the gateway does not know them. */
export const toGeminiModel = ({ id, name, tasks, maxInput, maxOutput, capabilities }: ListedModel): object => ({
  name: `models/${id}`,
  baseModelId: id,
  version: '',
  displayName: name,
  ...(maxInput !== undefined && { inputTokenLimit: maxInput }),
  ...(maxOutput !== undefined && { outputTokenLimit: maxOutput }),
  supportedGenerationMethods: tasks.flatMap((task) => METHODS[task] ?? []),
  ...(capabilities && { thinking: capabilities.includes('reasoning') }),
});

/** @param list the name of the list in the reply */
const pageOf =
  (list: string, toModel: (model: ListedModel) => object) =>
  (models: readonly ListedModel[], { size, after }: ModelWindow): object => {
    const rest = after === undefined ? models : models.filter(({ id }) => compareModelIds(id, after) > 0);
    const page = rest.slice(0, size);
    const last = page.at(-1);
    const more = last && rest.length > page.length;
    const token = more && { nextPageToken: Buffer.from(last.id).toString('base64url') };
    return { [list]: page.map(toModel), ...token };
  };

/** Takes models in the order of their ids. */
export const toGeminiPage = pageOf('models', toGeminiModel);

/** Vertex AI's list, which has no limits and methods of models. */
export const toVertexPage = pageOf('publisherModels', toVertexModel);
