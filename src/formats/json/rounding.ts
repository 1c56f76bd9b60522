import type { JsonObject } from '../conversation.ts';
import { setField } from './object.ts';
import { QUOTE, COLON, MINUS, PLUS, DOT, ZERO, NINE, CAPITAL_E, LETTER_E, afterSpace, afterString } from './scan.ts';

declare global {
  interface JSON {
    /** From the TC39 proposal "JSON.parse source text access", in Node 22. TypeScript does not declare it yet. */
    rawJSON(text: string): object;
  }
}

/** Whether a value is a number with many digits, which only `JSON.stringify` reads. */
export const isRawNumber = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.isFrozen(value) && Object.hasOwn(value, 'rawJSON');

/** A quick check that most texts fail, many times as fast as `LONG_NUMBERS`. */
const SIXTEEN_DIGITS = /\d{16}/;

/** The largest double has 309 digits, and reading a longer number exactly costs the square of its length. */
const MAX_DIGITS = 310;

/**
 * Whole numbers of sixteen digits and more, where doubles begin to have gaps. Of a number longer than any double it
 * matches the first digits: an unbounded pattern runs out of stack on millions of digits.
 */
const LONG_NUMBERS = /(?<![\w."\\-])-?(?:\d{311}|\d{16,310}(?![.\deE]))/g;

/**
 * True when a whole number of a JSON text changes once it is parsed and written again. `value` is the parsed text: it
 * tells numbers from digits inside strings, which the search in the text cannot.
 */
export function losesDigits(text: string, value: unknown): boolean {
  if (!SIXTEEN_DIGITS.test(text)) return false;
  // `some` stops at the first changed number: a text may hold tens of thousands.
  return text.matchAll(LONG_NUMBERS).some(([digits]) => isChanged(digits)) && hasUnsafe(value);
}

/** True when the digits of a whole number change once they are parsed and written. */
export function isChanged(digits: string): boolean {
  const number = Number(digits);
  if (Number.isSafeInteger(number) || String(number) === digits) return false;
  // Exact below 1e21 (ECMA-262, Number.prototype.toFixed).
  if (Math.abs(number) < 1e21) return number.toFixed(0) !== digits;
  return digits.length > MAX_DIGITS || !Number.isFinite(number) || BigInt(digits) !== BigInt(number);
}

/** Keeps a work list instead of recursing: the text comes from the caller and may nest to any depth. */
function hasUnsafe(root: unknown): boolean {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value))) return true;
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value)) open.push(item);
    }
  }
  return false;
}

/**
 * Parses a reply so that ids of sixteen digits and more in call arguments are written again unchanged: a streamed call
 * passes its arguments on as text, and a plain one must not differ. Such a number becomes an object that only
 * `JSON.stringify` reads; all other numbers stay numbers.
 */
export function parseReplyText(text: string): unknown {
  return MAY_BE_LONG.test(text) ? parseKeepingDigits(text) : JSON.parse(text);
}

/** `parseReplyText` of a text that has been parsed. It is parsed again only if it may hold such a number. */
export function keepingDigits(text: string, parsed: unknown): unknown {
  return MAY_BE_LONG.test(text) ? parseKeepingDigits(text) : parsed;
}

/** Includes the character before a number in an object or a list: on base64 four times as fast (measured). */
const MAY_BE_LONG = /[:,[\s]-?\d{16}/;

const INTEGER = /^-?[1-9]\d*$/;
const SHORTEST = 16;
/** A text with a longer run of U+0001 was written to imitate the mark. */
const MAX_RUN = 8;

interface Integer {
  readonly from: number;
  readonly digits: string;
}

/**
 * Parses JSON text so that the integers that `isChanged` selects keep their digits when written: each becomes an object
 * that only `JSON.stringify` reads. Such an integer passes the parser as a string that no other string of the text can
 * equal. A reviver would do the same at fifty times the cost of parsing (measured: 1.2 s for 1 MB).
 */
function parseKeepingDigits(text: string): unknown {
  const integers = longIntegers(text).filter(({ digits }) => isChanged(digits));
  const run = longestRun(text);
  if (integers.length === 0 || run > MAX_RUN) return JSON.parse(text);
  const mark = '\u0001'.repeat(run + 1);
  const written = JSON.stringify(mark).slice(0, -1);
  const pieces: string[] = [];
  let done = 0;
  for (const { from, digits } of integers) {
    pieces.push(text.slice(done, from), written, digits, '"');
    done = from + digits.length;
  }
  pieces.push(text.slice(done));
  return replaceMarks(JSON.parse(pieces.join('')), mark);
}

/** JSON can hold U+0001 only as its escape, so the text shows how many of them follow each other. */
function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/(?:\\u0001)+/g)) longest = Math.max(longest, run.length / 6);
  return longest;
}

/** Values of sixteen digits and more, without keys: quoting a key would turn invalid JSON into valid JSON. */
function longIntegers(text: string): Integer[] {
  const found: Integer[] = [];
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at);
    else if (isNumeric(code)) {
      const to = numberEnd(text, at);
      if (to - at >= SHORTEST && text.charCodeAt(afterSpace(text, to)) !== COLON) {
        const digits = text.slice(at, to);
        if (INTEGER.test(digits)) found.push({ from: at, digits });
      }
      at = to;
    } else at += 1;
  }
  return found;
}

function numberEnd(text: string, at: number): number {
  let end = at + 1;
  while (isNumeric(text.charCodeAt(end))) end += 1;
  return end;
}

/** The characters of a number. The `e` of `true` and `false` matches too; `INTEGER` rejects it. */
const isNumeric = (code: number): boolean =>
  (code >= ZERO && code <= NINE) ||
  code === PLUS ||
  code === MINUS ||
  code === DOT ||
  code === CAPITAL_E ||
  code === LETTER_E;

/** Keeps a work list instead of recursing: the text may nest to any depth. */
function replaceMarks(root: unknown, mark: string): unknown {
  const isMark = (value: string): boolean => value.charCodeAt(0) === 1 && value.startsWith(mark);
  const toValue = (value: string): object => JSON.rawJSON(value.slice(mark.length));
  const holder: JsonObject = { root };
  const open: object[] = [holder];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const object = node as JsonObject;
    // Lists are walked by index: `Object.keys` would create a string for each index.
    const keys = Array.isArray(node) ? undefined : Object.keys(object);
    const list = Array.isArray(node) ? (node as unknown[]) : [];
    const count = keys?.length ?? list.length;
    for (let at = 0; at < count; at += 1) {
      const value = keys ? object[keys[at]!] : list[at];
      if (typeof value === 'object' && value !== null) open.push(value);
      else if (typeof value !== 'string' || !isMark(value)) continue;
      else if (keys) setField(object, keys[at]!, toValue(value));
      else list[at] = toValue(value);
    }
  }
  return holder['root'];
}
