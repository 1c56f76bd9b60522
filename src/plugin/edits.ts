import { isObject } from '../formats/json/object.ts';

/** One change to a JSON object: a value put at a path, or taken away when `value` is undefined. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
  /** Who made it, for explain: `configs/gateway/prod.yaml override_params`. */
  readonly source: string;
}

/** The object with one edit applied; only the objects along the path are copied. */
export function applyEdit(json: Record<string, unknown>, edit: Edit): Record<string, unknown> {
  return applyAt(json, edit.path, edit.value);
}

/** The object with the edits applied, one after the other: it is copied once, and below it only the objects along the paths. */
export function applyEdits(json: Record<string, unknown>, edits: readonly Edit[]): Record<string, unknown> {
  if (edits.length === 0) return json;
  const edited = { ...json };
  for (const { path, value } of edits) {
    const [key] = path;
    if (key === undefined) continue;
    const before = Object.hasOwn(edited, key) ? { [key]: edited[key] } : {};
    const after = applyAt(before, path, value);
    // Assigned, `__proto__` would change the object's prototype and not its keys.
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
    // Objects merge key by key, and this one has none.
    if (isEmptyObject(value) && Object.hasOwn(object, key) && isObject(object[key])) return object;
    const { [key]: _, ...others } = object;
    return value === undefined ? others : { ...object, [key]: value };
  }
  const inner = Object.hasOwn(object, key) ? object[key] : undefined;
  // Nothing is there to be taken away from, and an empty object in its place would be something the caller never said.
  if (value === undefined && !isObject(inner)) return object;
  return { ...object, [key]: applyAt(isObject(inner) ? inner : {}, rest, value) };
}

/**
 * The edits that lay `params` over a body: objects merge key by key, arrays and scalars replace, null deletes. Paths end at
 * the first value that is not an object, so that every leaf's origin can be told.
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

/** The edits that lay one after the other over a body, each over what those before it made; what a later one makes void is left out. */
export function mergeLevels(levels: readonly Readonly<Record<string, unknown>>[], source: string): Edit[] {
  const edits = levels.flatMap((params) => mergeEdits(params, source));
  return edits.filter((edit, index) => !isVoid(edit, edits.slice(index + 1)));
}

/** What is written or deleted later, whole; an empty object writes nothing over another. */
const isVoid = ({ path }: Edit, later: readonly Edit[]): boolean =>
  later.some((one) => replacesWhole(one) && one.path.every((key, index) => path[index] === key));

/** What a deletion inside an object takes out may have made that object. */
const replacesWhole = ({ path, value }: Edit): boolean =>
  value === undefined ? path.length === 1 : !isEmptyObject(value);

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;
