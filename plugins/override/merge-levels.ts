import { isObject } from '../../src/core/kernel/index.ts';
import type { Edit } from '../../src/plugin/index.ts';

/**
 * The edits that merge several levels into a body in order, each level over the result of those before it. Edits that a
 * later one overrides are omitted.
 * @param editsOf the edits of one level, with the paths that they have in the body
 */
export function mergeLevels<T extends Readonly<Record<string, unknown>>>(
  levels: readonly T[],
  editsOf: (params: T) => readonly Edit[],
): Edit[] {
  const edits = levels.flatMap((params) => editsOf(params));
  return edits.filter((edit, index) => !isVoid(edit, edits.slice(index + 1)));
}

/** Whether a later edit replaces the whole value. An empty object replaces nothing. */
const isVoid = ({ path }: Edit, later: readonly Edit[]): boolean =>
  later.some((one) => replacesWhole(one) && one.path.every((key, index) => path[index] === key));

/** A nested deletion replaces no earlier edit, which may have created the object. */
const replacesWhole = ({ path, value }: Edit): boolean =>
  value === undefined ? path.length === 1 : !isObject(value) || Object.keys(value).length > 0;

/** The edits that merge `params` into a body: objects merge by key, other values replace, null deletes. */
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
