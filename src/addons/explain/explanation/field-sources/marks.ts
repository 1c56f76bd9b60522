import { REMOVED, type Leaf, type LeafValue } from './leaves.ts';
import { isObject } from '../../../../formats/json/object.ts';

/**
 * Eight lower-case letters and digits, which survive the transformations that formats apply to names and ids, and
 * base64, whose length they keep a multiple of four.
 */
const markOf = (number: number): string => `zq${number.toString(36).padStart(4, '0')}qz`;

const MARK = /zq([0-9a-z]{4})qz/g;

/** The distinct numbers of the marks in a text. */
export const marksIn = (text: string): readonly number[] => [
  ...new Set([...text.matchAll(MARK)].map(([, digits]) => Number.parseInt(digits!, 36))),
];

/** Number of possible marks. */
const MAX_MARKS = 36 ** 4;

/** A distinguishable replacement for each value; undefined when one value has none. */
export function markedAll(values: readonly LeafValue[]): readonly (string | number)[] | undefined {
  if (values.length > MAX_MARKS) return undefined;
  const taken = new Set<number>();
  const all = values.map((value, number) => {
    if (typeof value === 'string') return markedText(value, markOf(number));
    return typeof value === 'number' ? freeNumber(value, number, taken) : undefined;
  });
  return all.every((one) => one !== undefined) ? all : undefined;
}

/** Integers stay integers, and probabilities stay close enough to remain in range. */
function freeNumber(value: number, number: number, taken: Set<number>): number {
  const step = Number.isInteger(value) ? 1 : 1 / 65_536;
  // For larger numbers such small steps would be lost to rounding.
  let free = (Math.abs(value) > 2 ** 31 ? 0 : value) + step * (number + 1);
  while (taken.has(free)) free += step;
  taken.add(free);
  return free;
}

/** The extension of a file name or URL. */
const ENDING = /\.[A-Za-z0-9]{2,5}$/;
const BASE64 = /^(?:data:[^,]{0,200};base64,)?(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function markedText(text: string, mark: string): string {
  const json = jsonIn(text);
  if (json !== undefined) return JSON.stringify(markedInside(json, mark));
  // The last four characters may be padding; the first ones determine the media type.
  if (BASE64.test(text)) return text.slice(0, -4) + mark + text.slice(-4);
  const ending = ENDING.exec(text)?.[0] ?? '';
  return text.slice(0, text.length - ending.length) + mark + ending;
}

/** Arguments of a tool call are JSON in a string. */
function jsonIn(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function markedInside(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value + mark;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return value.length === 0 ? [mark] : value.map((one) => markedInside(one, mark));
  if (!isObject(value)) return value === null ? mark : value;
  const entries = Object.entries(value);
  return entries.length === 0
    ? { [mark]: 1 }
    : Object.fromEntries(entries.map(([k, one]) => [k, markedInside(one, mark)]));
}

/** Alternative values for a leaf, for the different ways a writer may treat it; the last one removes it. */
export function alternativesTo({ value }: Leaf): readonly unknown[] {
  if (typeof value === 'string') return [...otherTexts(value), REMOVED];
  if (typeof value === 'number') return [value + 1, value - 1, value / 2, 0, 1, REMOVED];
  if (typeof value === 'boolean') return [!value, REMOVED];
  return [markOf(0), 1, true, ['x'], REMOVED];
}

/** Words of the APIs that can replace each other. */
const WORDS: readonly (readonly string[])[] = [
  ['assistant', 'user', 'system', 'tool', 'developer'],
  ['text', 'json_object', 'json_schema'],
  ['auto', 'any', 'required', 'none', 'tool'],
  ['enabled', 'disabled', 'adaptive'],
  ['low', 'high', 'medium', 'auto', 'minimal'],
  ['string', 'number', 'object', 'integer', 'boolean', 'array'],
  ['text', 'image', 'document'],
  ['text', 'image_url', 'input_audio', 'file'],
  ['base64', 'url'],
  ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
  ['png', 'jpeg', 'webp'],
  ['wav', 'mp3'],
  ['auto', 'default', 'flex', 'priority', 'standard_only'],
  ['standard', 'hd'],
  ['url', 'b64_json'],
  ['float', 'base64'],
  ['1024x1024', '1536x1024', '1024x1536', '1792x1024'],
  ['5m', '1h'],
];

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const GIF = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

const MAX_WORDS = 6;

function otherTexts(text: string): readonly string[] {
  if (text.startsWith('data:')) return [text.startsWith('data:image/png') ? GIF : PNG];
  if (ENDING.test(text)) return [text.replace(ENDING, ENDING.exec(text)?.[0] === '.png' ? '.jpg' : '.png')];
  const others = WORDS.filter((words) => words.includes(text)).flatMap((words) =>
    words.filter((word) => word !== text),
  );
  return [...new Set(others)].slice(0, MAX_WORDS);
}

/**
 * Whether a text's prefix or extension carries its own information, which appears elsewhere in the output and is probed
 * separately.
 */
export const carriesItsKind = ({ value }: Leaf): boolean =>
  typeof value === 'string' && (value.startsWith('data:') || (/^\w+:\/\//.test(value) && ENDING.test(value)));
