import { GatewayError } from '../../plugin/index.ts';
import type { Operation, PathParams, RequestBody } from '../kernel/index.ts';

/** A method on a model, behind the last colon (docs/protocols/vertex-ai.md#paths, docs/protocols/gemini.md#paths). */
type OfPath = Pick<Operation, 'path' | 'provider' | 'fieldsInPath'>;

/** Google's client puts `v1beta1` before `models/` where its caller writes a resource name. */
const DEVELOPER = '/{version:v1beta|v1|v1alpha|v1beta1}/models/{+model}';

const PUBLISHED: readonly string[] = [
  '/{version:v1|v1beta1}/projects/{project}/locations/{location}/publishers/{publisher}/models/{+model}',
  '/{version:v1|v1beta1}/publishers/{publisher}/models/{+model}',
];

/** @param stream set for the methods that generate */
export const onModel = (method: string, stream?: boolean): OfPath => ({
  path: `${DEVELOPER}:${method}`,
  provider: 'google-ai-studio',
  fieldsInPath({ model = '' }, body) {
    checkRepeated(body, (text) => text === model || text === `models/${model}`);
    return { model, ...streaming(body, stream) };
  },
});

/** Project and location are those of the catalog entry: the path's are ignored and noted in the record. */
export const onPublishedModel = (method: string, stream?: boolean): readonly OfPath[] =>
  PUBLISHED.map((path) => published(`${path}:${method}`, stream));

/** The same for the models of Anthropic, whose methods have another body. */
export const onClaude = (model: string, method: string, stream?: boolean): readonly OfPath[] =>
  PUBLISHED.map((path) =>
    published(`${path.replace('{publisher}', CLAUDE).replace('{+model}', model)}:${method}`, stream, CLAUDE),
  );

const CLAUDE = 'anthropic';

const published = (path: string, stream: boolean | undefined, publisher?: string): OfPath => ({
  path,
  provider: 'vertex-ai',
  fieldsInPath(params, body) {
    const resource = resourceIn(publisher === undefined ? params : { ...params, publisher });
    checkRepeated(body, (text) => text === resource.name || namesResource(text, resource.parts));
    return { model: resource.name, ...streaming(body, stream) };
  },
});

function resourceIn({ publisher = '', model = '' }: PathParams) {
  const parts = { publisher, model };
  const name = modelNameOf(parts);
  if (name !== undefined) return { parts, name };
  const path = JSON.stringify(`publishers/${publisher}/models/${model}`.slice(0, 200));
  throw new GatewayError('invalid_model', `The path names no model: ${path}.`, { param: 'model' });
}

function checkRepeated(body: RequestBody, isSame: (text: string) => boolean): void {
  const inBody = body.has('model') ? body.value('model') : undefined;
  if (inBody === undefined || (typeof inBody === 'string' && isSame(inBody))) return;
  throw new GatewayError('invalid_value', '`model` is not the model that the path names.', { param: 'model' });
}

/** Whether the reply is a stream is in the path: Google refuses the field. */
function streaming(body: RequestBody, stream: boolean | undefined): { readonly stream?: true } {
  if (body.has('stream') && body.value('stream') !== stream)
    throw new GatewayError('invalid_value', '`stream` is not what the path says.', { param: 'stream' });
  return stream ? { stream } : {};
}

/** A model in Vertex AI's own API: `publishers/{publisher}/models/{model}` (docs/protocols/vertex-ai.md#paths). */
interface ModelResource {
  readonly publisher: string;
  readonly model: string;
}

/** Publishers with a prefix in this gateway (docs/protocols/vertex-ai.md#model-prefixes). Others have a slash. */
const PREFIXED: ReadonlySet<string> = new Set(['anthropic', 'meta', 'mistralai']);
const PUBLISHER = /^[a-z][a-z0-9-]{0,62}$/;
/** Publishers that clients put before any name, because they know no others. */
const OF_CLIENTS: ReadonlySet<string> = new Set(['google', 'anthropic']);

/**
 * Returns the model name that requests use in their bodies, or undefined for unusable parts. `@slug/model` names its
 * entry itself, whichever publisher a client has put before it; Google's client takes the slug for the publisher
 * (docs/protocols/gemini.md#paths).
 */
function modelNameOf({ publisher, model }: ModelResource): string | undefined {
  if (model.startsWith('@')) return OF_CLIENTS.has(publisher) ? model : undefined;
  if (publisher.startsWith('@')) return `${publisher}/${model}`;
  if (!PUBLISHER.test(publisher)) return undefined;
  if (publisher === 'google') return model;
  if (model.includes('/')) return undefined;
  return PREFIXED.has(publisher) ? `${publisher}.${model}` : `${publisher}/${model}`;
}

/** A resource name, in any project and location, or the end of one. */
function namesResource(text: string, { publisher, model }: ModelResource): boolean {
  const inPlace = text.replace(/^projects\/[^/]+\/locations\/[^/]+\//, '');
  return `/publishers/${publisher}/models/${model}`.endsWith(`/${inPlace}`);
}
