import { parseKeepingDigits } from './kept-digits.ts';

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
  return SIXTEEN_DIGITS.test(text) && hasChanged(text) && hasUnsafe(value);
}

/** Stops at the first changed number: a text may hold tens of thousands. */
function hasChanged(text: string): boolean {
  for (const [digits] of text.matchAll(LONG_NUMBERS)) if (isChanged(digits)) return true;
  return false;
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
  return MAY_BE_LONG.test(text) ? parseKeepingDigits(text, isChanged) : JSON.parse(text);
}

/**
 * Includes the character before a number in an object or a list: measured, four times as fast on base64 as digits
 * alone.
 */
const MAY_BE_LONG = /[:,[\s]-?\d{16}/;
