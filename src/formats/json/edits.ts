import { isObject } from './object.ts';

/** Sets the value at a path of a JSON object, or deletes the field when `value` is undefined. */
export interface JsonEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Applies one edit. Copies only the objects along the path. */
export function applyEdit(json: Record<string, unknown>, edit: JsonEdit): Record<string, unknown> {
  return applyAt(json, edit.path, edit.value);
}

/** Applies edits in order. Copies the top level once, and below it only the objects along the paths. */
export function applyEdits(json: Record<string, unknown>, edits: readonly JsonEdit[]): Record<string, unknown> {
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
  if (Array.isArray(inner)) return { ...object, [key]: applyToList(inner, rest, value) };
  // Nothing to delete; an empty object here would be a field that the caller never sent.
  if (value === undefined && !isObject(inner)) return object;
  return { ...object, [key]: applyAt(isObject(inner) ? inner : {}, rest, value) };
}

/** An item is named by its number. An edit adds and removes none. */
function applyToList(
  list: readonly unknown[],
  [key = '', ...rest]: readonly string[],
  value: unknown,
): readonly unknown[] {
  const index = Number(key);
  if (value === undefined || !Object.hasOwn(list, key) || !Number.isInteger(index)) return list;
  const item = list[index];
  if (rest.length === 0) return list.with(index, value);
  if (Array.isArray(item)) return list.with(index, applyToList(item, rest, value));
  return isObject(item) ? list.with(index, applyAt(item, rest, value)) : list;
}

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;

/** Undefined where the path leads nowhere. */
export function valueAt(json: unknown, path: readonly string[]): unknown {
  let value = json;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
