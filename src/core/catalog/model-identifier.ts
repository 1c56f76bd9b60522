import { unusable } from '../providers/model-name.ts';

/** The parts of the field `model`: a provider's slug and a model name. */
export interface ModelIdentifier {
  /** Without `@`; undefined when the model names no entry. */
  readonly slug: string | undefined;
  /** The model name within the entry, with its family prefix and its `@date`. */
  readonly model: string;
}

/** Parses `@slug/model` or `model`. Only an `@` at the start marks a slug: `claude-x@20250929` is a bare model. Throws GatewayError. */
export function parseModelIdentifier(text: string): ModelIdentifier {
  if (!text.startsWith('@')) return { slug: undefined, model: text };
  const slash = text.indexOf('/');
  if (slash < 0 || slash === text.length - 1)
    throw unusable(text, 'names a catalog entry but no model: write `@slug/model`');
  if (slash === 1) throw unusable(text, 'has no slug between `@` and `/`');
  return { slug: text.slice(1, slash), model: text.slice(slash + 1) };
}
