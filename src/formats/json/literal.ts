import { BACKSLASH, QUOTE } from './scan.ts';

/**
 * A literal is the content of a JSON string, without its quotes, as JSON.stringify writes it, with one character for
 * each byte of its UTF-8 (sse/event-bytes.ts). A text that is read and written as a literal needs neither parser nor
 * writer.
 */

/** Escapes of JSON.stringify. Of the others, parsers read `\/` and `\u`, which it writes in another form. */
const SHORT_ESCAPES = new Uint8Array(0x80);
for (const letter of '"\\bfnrt') SHORT_ESCAPES[letter.charCodeAt(0)] = 1;
const isShort = (code: number): boolean => code < SHORT_ESCAPES.length && SHORT_ESCAPES[code] === 1;

const SPACE = 0x20;
const LETTER_U = 0x75;
/** Characters after the backslash of `\u0001`. */
const LONG_ESCAPE = 5;

/** A literal and its place: `close` is the index of its closing quote. */
export interface FoundLiteral {
  readonly literal: string;
  readonly close: number;
}

/**
 * Reads the literal whose first byte is at `from`. Undefined for one that is empty, does not end, or is not valid.
 * @param bytes valid UTF-8
 */
export function literalAt(bytes: string, from: number): FoundLiteral | undefined {
  let short = true;
  let at = from;
  for (let code = bytes.charCodeAt(at); code !== QUOTE; code = bytes.charCodeAt((at += 1))) {
    // Past the end, there is no code.
    if (!(code >= SPACE)) return undefined;
    if (code === BACKSLASH) short = isShort(bytes.charCodeAt((at += 1))) && short;
  }
  if (at === from) return undefined;
  const literal = short ? bytes.slice(from, at) : rewritten(bytes.slice(from, at));
  return literal === undefined ? undefined : { literal, close: at };
}

function rewritten(literal: string): string | undefined {
  try {
    return literalOf(String(JSON.parse(`"${fromBytes(literal)}"`)));
  } catch {
    return undefined;
  }
}

export const literalOf = (text: string): string => toBytes(JSON.stringify(text).slice(1, -1));

/** One character for each byte of the text's UTF-8. */
export const toBytes = (text: string): string => Buffer.from(text).toString('latin1');

/** Undefined for an empty text, which is not sent. */
export const bytesOf = (text: string): Buffer | undefined => (text === '' ? undefined : Buffer.from(text));

/** The bytes of such texts. A long one is written in its place, since joining would copy it twice. */
export function joinedBytes(pieces: readonly string[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length < LONG) return Buffer.from(pieces.join(''), 'latin1');
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at, 'latin1');
  return bytes;
}

const LONG = 4096;

export const fromBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

export const textOfLiteral = (literal: string): string => String(JSON.parse(`"${fromBytes(literal)}"`));

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
    return (this.#text ??= textOfLiteral(this.literals.join('')));
  }
}

/** Length of a literal's text in UTF-16. */
export function textLength(literal: string): number {
  let length = 0;
  for (let at = 0; at < literal.length; at += 1) {
    const code = literal.charCodeAt(at);
    // A character is counted at its first byte; one of four bytes is a pair of surrogates.
    if (code < 0x80 || code >= 0xc0) length += code < 0xf0 ? 1 : 2;
    if (code === BACKSLASH) at += literal.charCodeAt(at + 1) === LETTER_U ? LONG_ESCAPE : 1;
  }
  return length;
}
