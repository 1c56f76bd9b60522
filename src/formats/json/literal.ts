import { BACKSLASH, QUOTE } from './scan.ts';

/**
 * A literal is the content of a JSON string, without its quotes, as JSON.stringify writes it. It has one character for
 * each byte of its UTF-8 (sse/event-bytes.ts). A text that goes from one JSON document to another as a literal needs
 * neither JSON.parse nor JSON.stringify.
 */

/**
 * The letters of the short escapes that JSON.stringify writes. The other valid escapes are `\/`, which it never writes,
 * and `\u`, which it writes only for some characters. A literal with one of these is parsed and written again.
 */
const SHORT_ESCAPES = new Uint8Array(0x80);
for (const letter of '"\\bfnrt') SHORT_ESCAPES[letter.charCodeAt(0)] = 1;
const isShort = (code: number): boolean => code < SHORT_ESCAPES.length && SHORT_ESCAPES[code] === 1;

const SPACE = 0x20;
const NOT_ASCII = 0x80;
const LETTER_U = 0x75;
/** The number of characters after the backslash in an escape such as `\u0001`. */
const LONG_ESCAPE = 5;

/** A literal and its place. */
interface FoundLiteral {
  readonly literal: string;
  /** Index of its closing quote. */
  readonly close: number;
  /** It has only ASCII and no escapes: it is the text itself. */
  readonly plain: boolean;
}

/**
 * Reads the literal whose first byte is at `from`. Undefined if the string there is empty, has no end, or is not valid.
 * @param bytes valid UTF-8
 */
export function literalAt(bytes: string, from: number): FoundLiteral | undefined {
  let short = true;
  let plain = true;
  let at = from;
  for (let code = bytes.charCodeAt(at); code !== QUOTE; code = bytes.charCodeAt((at += 1))) {
    // Past the end, there is no code.
    if (!(code >= SPACE)) return undefined;
    if (code === BACKSLASH) {
      plain = false;
      short = isShort(bytes.charCodeAt((at += 1))) && short;
    } else if (code >= NOT_ASCII) plain = false;
  }
  if (at === from) return undefined;
  const literal = short ? bytes.slice(from, at) : rewritten(bytes.slice(from, at));
  return literal === undefined ? undefined : { literal, close: at, plain };
}

function rewritten(literal: string): string | undefined {
  try {
    return literalOf(String(JSON.parse(`"${fromBytes(literal)}"`)));
  } catch {
    return undefined;
  }
}

export const literalOf = (text: string): string => toBytes(JSON.stringify(text).slice(1, -1));

/** One character for each byte of the text's UTF-8. Most texts are ASCII. */
export const toBytes = (text: string): string =>
  Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');

/** A value as JSON, with one character per byte. */
export const jsonBytes = (value: unknown): string => toBytes(JSON.stringify(value));

/** Undefined for an empty text, which is not sent. */
export const bytesOf = (text: string): Buffer | undefined => (text === '' ? undefined : Buffer.from(text));

/** The bytes of texts with one character per byte, in order. Joining long texts first would copy them twice. */
export function joinedBytes(pieces: readonly string[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  if (length < LONG) return Buffer.from(pieces.join(''), 'latin1');
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at, 'latin1');
  return bytes;
}

/** The total length from which texts count as long. */
const LONG = 4096;

export const fromBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

export const textOfLiteral = (literal: string): string => String(JSON.parse(`"${fromBytes(literal)}"`));

/** A text event that holds literals. Its text is decoded on demand, because most clients need only the literals. */
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

/** The length of a literal's decoded text, in UTF-16 units. */
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
