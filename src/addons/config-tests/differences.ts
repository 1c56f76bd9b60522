import { nearest, isObject } from '../../core/kernel/index.ts';
import type { JsonPath } from '../../core/settings/schema/pointer.ts';

export interface Mismatch {
  /** Path within `expect`; empty for an error of the case itself. */
  readonly path: JsonPath;
  /** Explanation beyond `expected` and `got`. */
  readonly message?: string;
  readonly expected?: string;
  readonly got?: string;
  readonly suggestion?: string;
}

/** One mismatch per leaf. Additional keys are ignored, lists compared whole; null matches a missing field. */
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

const ofObjects = (expected: JsonObject, got: JsonObject, path: JsonPath): readonly Mismatch[] =>
  Object.entries(expected).flatMap(([key, value]) => {
    if (Object.hasOwn(got, key)) return differences(value, got[key], [...path, key]);
    const others = Object.keys(got).filter((name) => !Object.hasOwn(expected, name));
    return differences(value, undefined, [...path, key]).map((one) => ({ ...one, ...meant(key, others) }));
  });

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

const LONGEST = 100;
/** Characters of common context before the difference. */
const BEFORE = 24;

/** JSON in one line; a long value is reduced to the relevant part. */
export const show = (value: unknown): string => (value === undefined ? 'nothing' : cut(JSON.stringify(value)));

/** Truncates both at the same place, so that the difference is visible. */
export function showBoth(expected: unknown, got: unknown): { readonly expected: string; readonly got: string } {
  if (typeof expected !== 'string' || typeof got !== 'string') return { expected: show(expected), got: show(got) };
  const [a, b] = [JSON.stringify(expected), JSON.stringify(got)];
  if (a.length <= LONGEST && b.length <= LONGEST) return { expected: a, got: b };
  const start = Math.max(0, firstDifference(a, b) - BEFORE);
  return { expected: cut(a, start), got: cut(b, start) };
}

function cut(text: string, from = 0): string {
  const start = text.slice(from);
  const shown = start.length > LONGEST ? `${start.slice(0, LONGEST)}… (${text.length} characters)` : start;
  return from === 0 ? shown : `…${shown}`;
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}
