import { GatewayError } from '../../../plugin/errors.ts';
import { placeAt } from '../../../formats/json/place.ts';
import { OpenKeys } from './open-keys.ts';
import {
  QUOTE,
  BACKSLASH,
  COMMA,
  COLON,
  OPEN_OBJECT,
  CLOSE_OBJECT,
  OPEN_ARRAY,
  CLOSE_ARRAY,
  MINUS,
  PLUS,
  DOT,
  ZERO,
  NINE,
  CAPITAL_E,
  LETTER_E,
  unquoted,
} from '../../../formats/json/scan.ts';
import { PlainText } from '../../../formats/json/plain-text.ts';
import { shownText } from '../../../formats/json/shown.ts';

/** Byte range and kind of a top-level value. */
export interface FieldSpan {
  /** Index of the key's opening quote. */
  readonly key: number;
  readonly from: number;
  readonly to: number;
  readonly kind: JsonKind;
}
type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
export type TopLevel = ReadonlyMap<string, FieldSpan>;

/** A JSON object as a scan found it. */
interface ScannedObject {
  readonly topLevel: TopLevel;
  /** Where long strings begin and end, quotes included, in their order: from, to, from, to, … Keys are not among them. */
  readonly longTexts: readonly number[];
}

/** Bytes of a string, from which on it counts as long. */
export const LONG_TEXT = 256;

/** Limits of a JSON text's structure. */
export interface JsonLimits {
  /** Maximum nesting of objects and lists. */
  readonly depth: number;
  /** Maximum keys of one object. */
  readonly keys: number;
  /** Maximum items of one list. */
  readonly items: number;
}

/**
 * Scans a JSON object (RFC 8259) within the limits for its top-level values. Refuses a repeated key: JSON.parse keeps
 * the last value, another parser the first, and the gateway must send the value that it has checked.
 */
export function scanTopLevel(bytes: Buffer, limits: JsonLimits): TopLevel {
  return scanObject(bytes, limits).topLevel;
}

/** `scanTopLevel` that refuses a repeated key at any depth, with the places of the object's long strings. */
export function scanObject(bytes: Buffer, limits: JsonLimits): ScannedObject {
  const scanner = new Scanner(bytes, limits, new OpenKeys(bytes));
  return { topLevel: scanner.object(), longTexts: scanner.longTexts };
}

class Scanner {
  readonly longTexts: number[] = [];
  readonly #bytes: Buffer;
  readonly #limits: JsonLimits;
  readonly #text: PlainText;
  readonly #keys: OpenKeys | undefined;
  #at = 0;
  /** A string had an escape. */
  #escaped = false;

  /** @param keys finds repeated keys inside the top-level values */
  constructor(bytes: Buffer, limits: JsonLimits, keys?: OpenKeys) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#keys = keys;
    this.#text = new PlainText(bytes);
  }

  object(): TopLevel {
    this.#space();
    if (this.#bytes[this.#at] !== OPEN_OBJECT) {
      if (this.#at >= this.#bytes.length) this.#fail('it is empty');
      this.#value(1);
      this.#end();
      throw new GatewayError('invalid_request', 'The body must be a JSON object.');
    }
    const spans = new Map<string, FieldSpan>();
    this.#members(1, spans);
    this.#end();
    return spans;
  }

  #end(): void {
    this.#space();
    if (this.#at < this.#bytes.length) this.#fail('something follows the value');
  }

  /** Reads `{"key":value,…}` from its opening brace; records value ranges when `spans` is given. */
  #members(depth: number, spans?: Map<string, FieldSpan>): void {
    const open = this.#at;
    this.#at += 1;
    this.#space();
    if (this.#bytes[this.#at] === CLOSE_OBJECT) {
      this.#at += 1;
      return;
    }
    const keys = spans ? undefined : this.#keys;
    keys?.open();
    for (let count = 1; ; count += 1) {
      if (count > this.#limits.keys) this.#tooMany('keys', open);
      const key = this.#at;
      if (this.#bytes[key] !== QUOTE) this.#fail('a key in quotes is expected');
      this.#escaped = false;
      this.#string();
      const name = spans && this.#newKey(key, spans);
      if (keys?.add(key, this.#at - 1, this.#escaped) === false) this.#twice(this.#name(key), open);
      this.#separator(COLON, COLON, 'a colon');
      const from = this.#at;
      const kind = this.#value(depth + 1);
      if (name !== undefined) spans!.set(name, { key, from, to: this.#at, kind });
      if (this.#separator(COMMA, CLOSE_OBJECT, COMMA_OR_END) === CLOSE_OBJECT) break;
    }
    keys?.close();
  }

  #newKey(from: number, spans: ReadonlyMap<string, FieldSpan>): string {
    const key = unquoted(this.#bytes.toString('utf8', from, this.#at));
    return spans.has(key) ? this.#twice(key) : key;
  }

  /** The key that begins at `from` and has just been read. */
  #name(from: number): string {
    return unquoted(this.#bytes.toString('utf8', from, this.#at));
  }

  /** @param open where the object opens that has the key. Default: the body */
  #twice(key: string, open?: number): never {
    const shown = shownText(key, SHOWN_KEY);
    const place = open === undefined ? undefined : placeAt(this.#bytes, open);
    const subject = place === undefined ? 'The body' : `\`${place}\``;
    const message = `${subject} has the key ${JSON.stringify(shown)} twice.`;
    throw new GatewayError('duplicate_parameter', message, { param: place ?? shown });
  }

  #items(depth: number): void {
    const open = this.#at;
    this.#at += 1;
    this.#space();
    if (this.#bytes[this.#at] === CLOSE_ARRAY) {
      this.#at += 1;
      return;
    }
    for (let count = 1; ; count += 1) {
      if (count > this.#limits.items) this.#tooMany('items', open);
      this.#value(depth + 1);
      if (this.#separator(COMMA, CLOSE_ARRAY, COMMA_OR_END) === CLOSE_ARRAY) return;
    }
  }

  /** Reads `separator` with the white space around it, or `close` with that before it. Returns which of them it was. */
  #separator(separator: number, close: number, expected: string): number {
    const bytes = this.#bytes;
    while (SPACE[bytes[this.#at]!] === 1) this.#at += 1;
    const byte = bytes[this.#at];
    if (byte !== separator && byte !== close) return this.#fail(`${expected} is expected`);
    this.#at += 1;
    if (byte === separator) while (SPACE[bytes[this.#at]!] === 1) this.#at += 1;
    return byte;
  }

  #value(depth: number): JsonKind {
    const byte = this.#bytes[this.#at];
    if (byte === QUOTE) {
      const from = this.#at;
      this.#string();
      if (this.#at - from >= LONG_TEXT) this.longTexts.push(from, this.#at);
      return 'string';
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth > this.#limits.depth) {
        const message = `The body nests deeper than ${this.#limits.depth} levels (limits.json_depth).`;
        throw new GatewayError('body_too_deep', message);
      }
      if (byte === OPEN_OBJECT) this.#members(depth);
      else this.#items(depth);
      return byte === OPEN_OBJECT ? 'object' : 'array';
    }
    return this.#scalar(byte);
  }

  #scalar(first: number | undefined): JsonKind {
    const from = this.#at;
    if (first === LETTER_T && this.#isWord('true')) return 'boolean';
    if (first === LETTER_F && this.#isWord('false')) return 'boolean';
    if (first === LETTER_N && this.#isWord('null')) return 'null';
    if (this.#number()) return 'number';
    while (this.#at < this.#bytes.length && !ENDS_SCALAR[this.#bytes[this.#at]!]) this.#at += 1;
    const text = this.#bytes.toString('latin1', from, Math.min(this.#at, from + 20));
    this.#at = from;
    return this.#fail(text === '' ? 'a value is expected' : `${JSON.stringify(text)} is not a JSON value`);
  }

  #isWord(word: string): boolean {
    for (let index = 1; index < word.length; index += 1) {
      if (this.#bytes[this.#at + index] !== word.charCodeAt(index)) return false;
    }
    const end = this.#at + word.length;
    if (end < this.#bytes.length && ENDS_SCALAR[this.#bytes[end]!] !== 1) return false;
    this.#at = end;
    return true;
  }

  /** RFC 8259, section 6, byte by byte: matching a pattern takes four times as long as JSON.parse (measured). */
  #number(): boolean {
    if (this.#bytes[this.#at] === MINUS) this.#at += 1;
    if (this.#bytes[this.#at] === ZERO) this.#at += 1;
    else if (!this.#digits()) return false;
    if (this.#bytes[this.#at] === DOT) {
      this.#at += 1;
      if (!this.#digits()) return false;
    }
    if ((this.#bytes[this.#at] ?? 0) === LETTER_E || this.#bytes[this.#at] === CAPITAL_E) {
      this.#at += 1;
      if (this.#bytes[this.#at] === PLUS || this.#bytes[this.#at] === MINUS) this.#at += 1;
      if (!this.#digits()) return false;
    }
    return this.#at >= this.#bytes.length || ENDS_SCALAR[this.#bytes[this.#at]!] === 1;
  }

  #digits(): boolean {
    const from = this.#at;
    for (let byte = this.#bytes[from]!; byte >= ZERO && byte <= NINE; byte = this.#bytes[this.#at]!) this.#at += 1;
    return this.#at > from;
  }

  /** Reads a string with its quotes: the first bytes one by one, the rest of a longer one by `PlainText`, in a tenth of the time. */
  #string(): void {
    const bytes = this.#bytes;
    let at = this.#at + 1;
    let near = at + SHORT_RUN;
    for (;;) {
      while (at < near && PLAIN[bytes[at]!] === 1) at += 1;
      if (at === near) {
        at = this.#text.skip(at);
        while (PLAIN[bytes[at]!] === 1) at += 1;
      }
      const byte = bytes[at];
      if (byte === BACKSLASH) {
        this.#escaped = true;
        at = ESCAPED[bytes[at + 1]!] === 1 ? at + 2 : this.#unicode(at + 1);
        near = Math.max(near, at + AFTER_ESCAPE);
      } else if (byte === QUOTE) {
        this.#at = at + 1;
        return;
      } else {
        this.#at = at;
        this.#fail(byte === undefined ? 'a string does not end' : 'a control character stands in a string');
      }
    }
  }

  /** Returns the index after the escape `\uXXXX` whose letter is at `at`. */
  #unicode(at: number): number {
    const bytes = this.#bytes;
    const isHex = HEX[bytes[at + 1]!]! & HEX[bytes[at + 2]!]! & HEX[bytes[at + 3]!]! & HEX[bytes[at + 4]!]!;
    if (bytes[at] === LETTER_U && isHex === 1) return at + 5;
    this.#at = at;
    return this.#fail('an escape in a string is not valid');
  }

  #space(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (SPACE[bytes[at]!] === 1) at += 1;
    this.#at = at;
  }

  #tooMany(what: 'keys' | 'items', open: number): never {
    const limit = this.#limits[what];
    const place = placeAt(this.#bytes, open);
    throw new GatewayError(
      what === 'keys' ? 'too_many_keys' : 'too_many_items',
      `${place === '' ? 'The body' : `\`${place}\``} has more than ${limit} ${what} (limits.json_${what}).`,
      { param: place === '' ? null : place },
    );
  }

  #fail(what: string): never {
    throw new GatewayError('invalid_json', `The body is not valid JSON: ${what} at byte ${this.#at}.`);
  }
}

const COMMA_OR_END = 'a comma or a closing bracket';

/** Maximum length of a key quoted in an error. */
const SHOWN_KEY = 200;

/** Bytes of a string that are read one by one before `PlainText` goes on: keys and names end within them. */
const SHORT_RUN = 32;
/** The same behind an escape that `PlainText` does not pass over. */
const AFTER_ESCAPE = 4;

const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const LETTER_U = 0x75;

/** A table with 1 for the bytes that `has` accepts, 0 for all others. */
const byteSet = (has: (byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => (has(byte) ? 1 : 0));
const oneOf = (text: string): Uint8Array => byteSet((byte) => text.includes(String.fromCharCode(byte)));

const SPACE = oneOf(' \t\n\r');
const ENDS_SCALAR = oneOf(' \t\n\r,]}:"[{');
const ESCAPED = oneOf('"\\/bfnrt');
const HEX = oneOf('0123456789abcdefABCDEF');
/** Bytes of a string that need no special handling. */
const PLAIN = byteSet((byte) => byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH);
