import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../formats/json/object.ts';
import { isRawNumber } from '../../../formats/json/rounding.ts';

export interface Difference {
  /** Names and indexes from the root. */
  readonly path: readonly (string | number)[];
  /** JSON. Absent when the received body has nothing here. */
  readonly received?: unknown;
  /** JSON. Absent when the sent body has nothing here. */
  readonly sent?: unknown;
}

type Path = Difference['path'];

/** A value that differs in more places is one difference, as a whole. */
const MOST_INSIDE = 50;

/**
 * The differences between two JSON values, in the order of the received one. Set and removed one by one, they make the
 * sent value of the received one. The time is linear in the size of both.
 *
 * The items of two lists of equal length are compared in pairs. In a list of another length, items are added or removed in
 * one place, or the list is replaced.
 */
export function bodyDiff(received: unknown, sent: unknown, path: Path = []): readonly Difference[] {
  const inside = insideOf(received, sent, path);
  if (inside && (path.length === 0 || inside.length <= MOST_INSIDE)) return inside;
  if (!inside && isSameScalar(received, sent)) return [];
  return [{ path, ...(received !== undefined && { received }), ...(sent !== undefined && { sent }) }];
}

/** Undefined where the two are not compared part by part. An added object is: it may have the fields of a whole request. */
function insideOf(received: unknown, sent: unknown, path: Path): readonly Difference[] | undefined {
  if (Array.isArray(received) && Array.isArray(sent)) return insideLists(received, sent, path);
  const before = received === undefined ? NOTHING : received;
  if (!hasMembers(before) || !hasMembers(sent)) return undefined;
  if (before === NOTHING && Object.keys(sent).length === 0) return undefined;
  const names = new Set([...Object.keys(before), ...Object.keys(sent)]);
  return [...names].flatMap((name) => bodyDiff(memberOf(before, name), memberOf(sent, name), [...path, name]));
}

const NOTHING: object = {};

function insideLists(received: readonly unknown[], sent: readonly unknown[], path: Path) {
  if (received.length === sent.length)
    return received.flatMap((item, index) => bodyDiff(item, sent[index], [...path, index]));
  const shorter = Math.min(received.length, sent.length);
  let start = 0;
  while (start < shorter && isDeepStrictEqual(received[start], sent[start])) start += 1;
  let end = 0;
  while (start + end < shorter && isDeepStrictEqual(received.at(-1 - end), sent.at(-1 - end))) end += 1;
  if (start + end < shorter) return undefined;
  const side = received.length > sent.length ? 'received' : 'sent';
  const longer = side === 'received' ? received : sent;
  return longer
    .slice(start, longer.length - end)
    .map((item, index): Difference => ({ path: [...path, start + index], [side]: item }));
}

const hasMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !isRawNumber(value);

const memberOf = (value: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Numbers of many digits are objects, equal where their digits are. */
const isSameScalar = (one: unknown, other: unknown): boolean =>
  one === other || (isRawNumber(one) && isRawNumber(other) && JSON.stringify(one) === JSON.stringify(other));
