import { foldCase, isObject, type Exchange, type Target } from '../plugin/index.ts';

/** A further model that a body names, and its place there. */
export interface NamedModel {
  readonly name: string;
  readonly param: string;
}

/**
 * Models that a request names beside `model`, for upstreams that ask them in its place: those of the caller's body, and those of the
 * parameters in a config that came with the request. The operator's own parameters are the operator's choice.
 */
export function furtherModels({ operation, request, config }: Exchange, target: Target): NamedModel[] {
  const fields = operation?.fields?.models ?? [];
  const found: NamedModel[] = [];
  const { body } = request;
  for (const field of fields) if (body?.has(field)) collect(body.value(field), field, found);
  if (config?.id !== 'inline') return found;
  for (const params of [target.defaultParams ?? {}, ...target.overrideLevels]) {
    for (const field of fields) if (Object.hasOwn(params, field)) collect(params[field], field, found);
  }
  return found;
}

/**
 * A name, a list of names, objects with a `model`, or LiteLLM's lists by the model they stand in for. An object without `model` has
 * names in all its values: none of them may go unchecked.
 */
function collect(value: unknown, param: string, found: NamedModel[]): void {
  if (typeof value === 'string') found.push({ name: value, param });
  else if (Array.isArray(value)) value.forEach((item, index) => collect(item, `${param}[${index}]`, found));
  else if (isObject(value)) {
    const entries = Object.entries(value);
    const named = entries.filter(([key]) => MODEL_KEYS.has(foldCase(key)));
    for (const [key, inner] of named.length > 0 ? named : entries) collect(inner, `${param}.${key}`, found);
  }
}

/** Of a fallback: its model, and fallbacks of its own. */
const MODEL_KEYS: ReadonlySet<string> = new Set(['model', 'models', 'fallbacks']);
