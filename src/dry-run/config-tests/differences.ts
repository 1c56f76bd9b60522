import { nearest } from '../../plugin/index.ts';
import type { JsonPath } from '../../settings/read/pointer.ts';
import { show, showBoth } from './show-values.ts';
import { isObject } from '../../formats/json/object.ts';

/** One mismatch with a case's expectation. */
export interface Mismatch {
  /** Path within `expect`; empty for an error of the case itself. */
  readonly path: JsonPath;
  /** Explanation beyond `expected` and `got`. */
  readonly message?: string;
  readonly expected?: string;
  readonly got?: string;
  readonly suggestion?: string;
}

/**
 * The differences of a value from the expected one: one mismatch per leaf. Additional keys of an object are ignored,
 * lists are compared whole, and null matches a null or missing field.
 */
export function differences(expected: unknown, got: unknown, path: JsonPath): readonly Mismatch[] {
  if (expected === null) return got === null || got === undefined ? [] : [differ(expected, got, path)];
  if (Array.isArray(expected)) return Array.isArray(got) ? ofLists(expected, got, path) : [differ(expected, got, path)];
  if (isObject(expected)) return isObject(got) ? ofObjects(expected, got, path) : [differ(expected, got, path)];
  return expected === got ? [] : [differ(expected, got, path)];
}

export const differ = (expected: unknown, got: unknown, path: JsonPath): Mismatch => ({
  path,
  ...showBoth(expected, got),
});

function ofLists(expected: readonly unknown[], got: readonly unknown[], path: JsonPath): readonly Mismatch[] {
  // After a missing or extra item all positions are shifted.
  if (expected.length !== got.length)
    return [{ path, expected: items(expected.length), got: `${items(got.length)}: ${show(got)}` }];
  return expected.flatMap((item, index) => differences(item, got[index], [...path, index]));
}

function ofObjects(expected: JsonObject, got: JsonObject, path: JsonPath): readonly Mismatch[] {
  return Object.entries(expected).flatMap(([key, value]) => {
    if (Object.hasOwn(got, key)) return differences(value, got[key], [...path, key]);
    const others = Object.keys(got).filter((name) => !Object.hasOwn(expected, name));
    return differences(value, undefined, [...path, key]).map((one) => ({ ...one, ...meant(key, others) }));
  });
}

/** The actual values at expected places; all others are omitted. */
export function expectedPart(expected: unknown, got: unknown): unknown {
  if (Array.isArray(expected) && Array.isArray(got))
    return got.map((item: unknown, index) => (index < expected.length ? expectedPart(expected[index], item) : item));
  if (!isObject(expected) || !isObject(got)) return got;
  const keys = Object.keys(expected).filter((key) => Object.hasOwn(got, key));
  return keys.length === 0 ? got : Object.fromEntries(keys.map((key) => [key, expectedPart(expected[key], got[key])]));
}

export function meant(word: string, known: Iterable<string>): { readonly suggestion?: string } {
  const suggestion = nearest(word, known);
  return suggestion === undefined ? {} : { suggestion };
}

const items = (count: number): string => (count === 1 ? '1 item' : `${count} items`);

type JsonObject = Readonly<Record<string, unknown>>;
