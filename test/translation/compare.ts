/** Two request bodies side by side: where they say different things, by path. */
import { isDeepStrictEqual } from 'node:util';

export interface Difference {
  /** `contents[1].parts[0].text` */
  readonly path: string;
  /** Undefined: not there. */
  readonly ours: unknown;
  readonly theirs: unknown;
}

export function differences(ours: unknown, theirs: unknown, path = ''): readonly Difference[] {
  if (isDeepStrictEqual(ours, theirs) || (isNothing(ours) && isNothing(theirs))) return [];
  if (typeof ours === 'symbol' || typeof theirs === 'symbol')
    return [{ path: 'refused', ours: nameOf(ours), theirs: nameOf(theirs) }];
  if (isObject(ours) && isObject(theirs)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...keys].flatMap((key) => differences(ours[key], theirs[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    const length = Math.max(ours.length, theirs.length);
    return Array.from({ length }).flatMap((_, at) => differences(ours[at], theirs[at], `${path}[${at}]`));
  }
  return [{ path, ours, theirs }];
}

/** Absent or empty: noise. An empty object is not: `googleSearch: {}` is a tool. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A body is too much to show beside a refusal. */
const nameOf = (value: unknown): string => (typeof value === 'symbol' ? 'refused' : 'sent');
