import { parseKeepingDigits } from './kept-digits.ts';

/** What most texts do not have; found many times as fast as what follows. */
const SIXTEEN_DIGITS = /\d{16}/;

/** The largest double has 309 digits, and reading a longer number exactly costs the square of its length. */
const MAX_DIGITS = 310;

/**
 * Whole numbers of sixteen digits and more, where doubles begin to have gaps. Of longer ones than doubles can be it takes the first
 * digits: a pattern without bounds fails on millions of them, for want of stack.
 */
const LONG_NUMBERS = /(?<![\w."\\-])-?(?:\d{311}|\d{16,310}(?![.\deE]))/g;

/**
 * True where a whole number of a JSON text is another one once it is parsed and written again. `value` is the parsed text: it
 * tells numbers from digits inside strings, which the search for long ones cannot.
 */
export function losesDigits(text: string, value: unknown): boolean {
  return SIXTEEN_DIGITS.test(text) && hasChanged(text) && hasUnsafe(value);
}

/** One after the other: the first that is changed says it, and a text may hold tens of thousands. */
function hasChanged(text: string): boolean {
  for (const [digits] of text.matchAll(LONG_NUMBERS)) if (isChanged(digits)) return true;
  return false;
}

/** Of the digits of a whole number: parsed and written, they are others. */
export function isChanged(digits: string): boolean {
  const number = Number(digits);
  if (Number.isSafeInteger(number) || String(number) === digits) return false;
  // Exact below 1e21 (ECMA-262, Number.prototype.toFixed).
  if (Math.abs(number) < 1e21) return number.toFixed(0) !== digits;
  return digits.length > MAX_DIGITS || !Number.isFinite(number) || BigInt(digits) !== BigInt(number);
}

/** A list of what is still to be seen instead of recursion: the text comes from the caller, as deep as they like. */
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
 * Parses a reply so that ids of sixteen digits and more in the arguments of its calls are written again as they came: a
 * streamed call passes its arguments on as text, and a plain one must not differ. Such a number becomes an object that
 * only `JSON.stringify` reads; all others are numbers as ever.
 */
export function parseReplyText(text: string): unknown {
  return MAY_BE_LONG.test(text) ? parseKeepingDigits(text, isChanged) : JSON.parse(text);
}

/** What stands before a number in an object or a list: measured, four times as fast on base64 as digits alone. */
const MAY_BE_LONG = /[:,[\s]-?\d{16}/;
