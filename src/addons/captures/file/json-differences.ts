import { isObject } from '../../../formats/json/object.ts';

/** More are not counted: they say that it is another request. */
const MOST = 50;
const LONGEST = 60;
const BEFORE = 12;
const DEEPEST = 64;

/** The places in which two values differ, in words: `messages.1.content is "a", recorded "b"`. */
export function firstDifferences(recorded: unknown, got: unknown): readonly string[] {
  const found: string[] = [];
  walk(recorded, got, [], found);
  return found;
}

function walk(recorded: unknown, got: unknown, path: readonly string[], found: string[]): void {
  if (found.length >= MOST || Object.is(recorded, got)) return;
  const [one, other] = [membersOf(recorded), membersOf(got)];
  if (!one || !other || Array.isArray(recorded) !== Array.isArray(got) || path.length > DEEPEST) {
    if (JSON.stringify(recorded) !== JSON.stringify(got)) found.push(inWords(path, recorded, got));
    return;
  }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)]))
    walk(valueOf(one, name), valueOf(other, name), [...path, name], found);
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  Array.isArray(value) ? Object.fromEntries(value.entries()) : isObject(value) ? value : undefined;

const valueOf = (members: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;

function inWords(path: readonly string[], recorded: unknown, got: unknown): string {
  const place = path.length === 0 ? 'the body' : path.join('.');
  if (recorded === undefined) return `${place} is ${shown(got)}, and the recording has none`;
  if (got === undefined) return `${place} is missing, recorded ${shown(recorded)}`;
  // Of long texts, from shortly before they part.
  const from = Math.max(0, sameStart(JSON.stringify(got), JSON.stringify(recorded)) - BEFORE);
  return `${place} is ${shown(got, from)}, recorded ${shown(recorded, from)}`;
}

function sameStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function shown(value: unknown, from = 0): string {
  const text = JSON.stringify(value);
  if (text.length <= LONGEST) return text;
  const rest = text.slice(from, from + LONGEST);
  return `${from > 0 ? '…' : ''}${rest}${from + LONGEST < text.length ? '…' : ''}`;
}
