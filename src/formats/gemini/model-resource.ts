/** A model in Vertex AI's own API: `publishers/{publisher}/models/{model}` (docs/protocols/vertex-ai.md#paths). */
export interface ModelResource {
  readonly publisher: string;
  readonly model: string;
}

/**
 * Publishers whose models have a prefix in this gateway (docs/protocols/vertex-ai.md#model-prefixes). Models of other
 * publishers have Google's name, with a slash.
 */
const PREFIXED: ReadonlySet<string> = new Set(['anthropic', 'meta', 'mistralai']);
const PUBLISHER = /^[a-z][a-z0-9-]{0,62}$/;
/** Publishers that clients put before any name, because they know no others. */
const OF_CLIENTS: ReadonlySet<string> = new Set(['google', 'anthropic']);

/**
 * Returns the model name that requests use in their bodies, or undefined for unusable parts. `@slug/model` names its entry itself,
 * whichever publisher a client has put before it; Google's client takes the slug for the publisher (docs/protocols/gemini.md#paths).
 */
export function modelNameOf({ publisher, model }: ModelResource): string | undefined {
  if (model.startsWith('@')) return OF_CLIENTS.has(publisher) ? model : undefined;
  if (publisher.startsWith('@')) return `${publisher}/${model}`;
  if (!PUBLISHER.test(publisher)) return undefined;
  if (publisher === 'google') return model;
  if (model.includes('/')) return undefined;
  return PREFIXED.has(publisher) ? `${publisher}.${model}` : `${publisher}/${model}`;
}

/** A resource name, in any project and location, or the end of one. */
export function namesResource(text: string, { publisher, model }: ModelResource): boolean {
  const inPlace = text.replace(/^projects\/[^/]+\/locations\/[^/]+\//, '');
  return `/publishers/${publisher}/models/${model}`.endsWith(`/${inPlace}`);
}
