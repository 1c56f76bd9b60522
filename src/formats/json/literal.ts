import { BACKSLASH, QUOTE } from './scan.ts';

/**
 * Contents of JSON string literals, without their quotes, as JSON.stringify writes them. A text that is read as a
 * literal and written as one needs neither parser nor writer.
 */

/** Escapes of JSON.stringify. Of the others, parsers read `\/` and `\u`, which it writes in another form. */
const SHORT_ESCAPES = new Uint8Array(0x80);
for (const letter of '"\\bfnrt') SHORT_ESCAPES[letter.charCodeAt(0)] = 1;
const LETTER_U = 0x75;
/** Characters of `\u0001` beyond the one that it stands for. */
const LONG_ESCAPE = 5;

/** A literal and its place: `close` is the index of its closing quote. */
export interface FoundLiteral {
  readonly literal: string;
  readonly close: number;
}

/**
 * Reads the literal whose first character is at `from`, as JSON.stringify writes it. Undefined for one that is empty,
 * does not end, or is not valid.
 */
export function literalAt(text: string, from: number): FoundLiteral | undefined {
  let short = true;
  let at = from;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt((at += 1))) {
    // Past the end, there is no code.
    if (!(code >= SPACE)) return undefined;
    if (code === BACKSLASH) short = isShort(text.charCodeAt((at += 1))) && short;
  }
  if (at === from) return undefined;
  const literal = short ? text.slice(from, at) : rewritten(text.slice(from, at));
  return literal === undefined ? undefined : { literal, close: at };
}

const SPACE = 0x20;
const isShort = (code: number): boolean => code < SHORT_ESCAPES.length && SHORT_ESCAPES[code] === 1;

function rewritten(literal: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(`"${literal}"`)).slice(1, -1);
  } catch {
    return undefined;
  }
}

/** A text event of literals. Its text is decoded on demand: most clients need only the literals. */
export class LiteralText {
  readonly type = 'text';
  readonly choice: number;
  readonly block: number;
  readonly literals: readonly string[];
  #text: string | undefined;

  constructor(choice: number, block: number, literals: readonly string[]) {
    this.choice = choice;
    this.block = block;
    this.literals = literals;
  }

  get text(): string {
    return (this.#text ??= textOf(this.literals.join('')));
  }
}

const textOf = (literal: string): string => (literal.includes('\\') ? String(JSON.parse(`"${literal}"`)) : literal);

/** Length of a literal's text. */
export function textLength(literal: string): number {
  let length = literal.length;
  for (let at = literal.indexOf('\\'); at >= 0; at = literal.indexOf('\\', at + 2))
    length -= literal.charCodeAt(at + 1) === LETTER_U ? LONG_ESCAPE : 1;
  return length;
}
