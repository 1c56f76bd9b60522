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

/**
 * Returns the model name that requests use in their bodies, or undefined for unusable parts. A model is a plain name:
 * neither one of a named provider (`@…`) nor one of another publisher (`…/…`).
 */
export function modelNameOf({ publisher, model }: ModelResource): string | undefined {
  if (!PUBLISHER.test(publisher) || model.startsWith('@') || model.includes('/')) return undefined;
  if (publisher === 'google') return model;
  return PREFIXED.has(publisher) ? `${publisher}.${model}` : `${publisher}/${model}`;
}

/** A resource name, in any project and location, or the end of one. */
export function namesResource(text: string, { publisher, model }: ModelResource): boolean {
  const inPlace = text.replace(/^projects\/[^/]+\/locations\/[^/]+\//, '');
  return `/publishers/${publisher}/models/${model}`.endsWith(`/${inPlace}`);
}
