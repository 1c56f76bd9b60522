import { ApiProblem } from './problems.ts';
import type { CallQuery } from './parameters.ts';
import { parseJson } from '../../../formats/json/object.ts';

interface ApiPage<Item> {
  readonly items: readonly Item[];
  /** For `cursor`; absent: this is the last page. */
  readonly next?: string;
}

/** A cursor names the last item of a page. Callers only repeat it. */
export const toCursor = (last: string): string => Buffer.from(JSON.stringify([1, last])).toString('base64url');

/** The name of the item after which a page begins; undefined: the first page. */
export function readCursor(query: CallQuery): string | undefined {
  const cursor = query.one('cursor');
  if (cursor === undefined) return undefined;
  const read = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (Array.isArray(read) && read.length === 2 && read[0] === 1 && typeof read[1] === 'string') return read[1];
  throw new ApiProblem('invalid_query', '`cursor` is not the `next` of a page.');
}

/** The page of a list that is sorted by name (by UTF-16 code units). */
export function pageOf<Item>(sorted: readonly Item[], nameOf: (item: Item) => string, query: CallQuery): ApiPage<Item> {
  const after = readCursor(query);
  const from = after === undefined ? 0 : firstAfter(sorted, nameOf, after);
  return cut(sorted.slice(from, from + query.limit + 1), nameOf, query.limit);
}

/** @param found one item more than the limit, if there is one */
export function cut<Item>(found: readonly Item[], nameOf: (item: Item) => string, limit: number): ApiPage<Item> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, next: toCursor(nameOf(last)) } : { items };
}

function firstAfter<Item>(sorted: readonly Item[], nameOf: (item: Item) => string, after: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (nameOf(sorted[middle]!) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
