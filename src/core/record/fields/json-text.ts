import { scrub } from '../scrub.ts';
import { RecurringTexts } from './recurring-texts.ts';

// How the access line has values. Each text is scrubbed on its own, which equals scrubbing the whole line: no name in a table is a
// credential's, and no pattern of a credential matches beyond the quotes of a text.

export const quoted = (text: string): string => scrub(JSON.stringify(text));

/** Needs no escapes, and has no letter that every format of a credential has: see `scrub`. */
const HEX = /^[0-9a-f-]*$/;

/** A text that each request has of its own. */
export const uniqueText = (text: string): string => (HEX.test(text) ? `"${text}"` : quoted(text));

/** `''`, `.001`, … `.999`, without zeros at the end. */
const FRACTIONS = Array.from({ length: 1000 }, (_, thousandths) => String(thousandths / 1000).slice(1));

/** Rounds to microseconds. Printing a fraction as two integers takes a third of the time (measured). */
export function msText(ms: number): string {
  const us = Math.round(ms * 1000);
  return us >= 0 && us <= 0x7fffffff ? Math.trunc(us / 1000) + FRACTIONS[us % 1000]! : JSON.stringify(us / 1000);
}

export const timeText = (ms: number): string => `"${new Date(ms).toISOString()}"`;

const recurring = new RecurringTexts(quoted);

export const textsText = (all: readonly string[]): string => `[${all.map((text) => recurring.of(text)).join(',')}]`;

export const jsonText = (value: object): string => scrub(JSON.stringify(value));
