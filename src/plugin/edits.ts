import { isObject } from '../formats/json/object.ts';

/** One change to a JSON object: sets the value at a path, or deletes the field when `value` is undefined. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
  /** Origin of the edit, for explain: `configs/gateway/prod.yaml override_params`. */
  readonly source: string;
}

/** Applies one edit. Copies only the objects along the path. */
export function applyEdit(json: Record<string, unknown>, edit: Edit): Record<string, unknown> {
  return applyAt(json, edit.path, edit.value);
}

/** Applies edits in order. Copies the top level once, and below it only the objects along the paths. */
export function applyEdits(json: Record<string, unknown>, edits: readonly Edit[]): Record<string, unknown> {
  if (edits.length === 0) return json;
  const edited = { ...json };
  for (const { path, value } of edits) {
    const [key] = path;
    if (key === undefined) continue;
    const before = Object.hasOwn(edited, key) ? { [key]: edited[key] } : {};
    const after = applyAt(before, path, value);
    // An assignment to `__proto__` would change the object's prototype instead of its keys.
    if (Object.hasOwn(after, key))
      Object.defineProperty(edited, key, { value: after[key], configurable: true, enumerable: true, writable: true });
    else delete edited[key];
  }
  return edited;
}

function applyAt(object: Record<string, unknown>, path: readonly string[], value: unknown): Record<string, unknown> {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  if (rest.length === 0) {
    // An empty object merges into an existing object without a change.
    if (isEmptyObject(value) && Object.hasOwn(object, key) && isObject(object[key])) return object;
    const { [key]: _, ...others } = object;
    return value === undefined ? others : { ...object, [key]: value };
  }
  const inner = Object.hasOwn(object, key) ? object[key] : undefined;
  // Nothing to delete; an empty object here would be a field that the caller never sent.
  if (value === undefined && !isObject(inner)) return object;
  return { ...object, [key]: applyAt(isObject(inner) ? inner : {}, rest, value) };
}

/**
 * The edits that merge `params` into a body: objects merge key by key, arrays and scalars replace, null deletes. Paths
 * end at the first value that is not an object, so that every leaf's origin is known.
 */
export function mergeEdits(
  params: Readonly<Record<string, unknown>>,
  source: string,
  under: readonly string[] = [],
): Edit[] {
  return Object.entries(params).flatMap(([key, value]): Edit[] => {
    const path = [...under, key];
    if (isObject(value) && Object.keys(value).length > 0) return mergeEdits(value, source, path);
    return [{ path, value: value === null ? undefined : value, source }];
  });
}

/**
 * The edits that merge several levels into a body in order, each level over the result of those before it. Edits that a
 * later one overrides are omitted.
 */
export function mergeLevels(levels: readonly Readonly<Record<string, unknown>>[], source: string): Edit[] {
  const edits = levels.flatMap((params) => mergeEdits(params, source));
  return edits.filter((edit, index) => !isVoid(edit, edits.slice(index + 1)));
}

/** Whether a later edit replaces the whole value. An empty object replaces nothing. */
const isVoid = ({ path }: Edit, later: readonly Edit[]): boolean =>
  later.some((one) => replacesWhole(one) && one.path.every((key, index) => path[index] === key));

/**
 * A nested deletion does not replace an earlier edit: removing that edit could also remove the object that it created.
 */
const replacesWhole = ({ path, value }: Edit): boolean =>
  value === undefined ? path.length === 1 : !isEmptyObject(value);

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;
