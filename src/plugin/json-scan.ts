import { GatewayError } from './errors.ts';

/** Where a top-level value stands in the bytes, and what it is. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly kind: JsonKind;
}
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';
export type TopLevel = ReadonlyMap<string, Span>;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * Reads the outline of a JSON object from its bytes (RFC 8259): that it is well-formed, how deep it nests, and where each
 * top-level value stands. It knows depth, strings and escapes, reads all top-level keys and refuses a key that stands twice:
 * JSON.parse keeps the last, another parser the first, and what is authorised must be what is sent.
 */
export function scanTopLevel(bytes: Buffer, maxDepth: number): TopLevel {
  return new Scanner(bytes, maxDepth).object();
}

class Scanner {
  readonly #bytes: Buffer;
  readonly #maxDepth: number;
  #at = 0;

  constructor(bytes: Buffer, maxDepth: number) {
    this.#bytes = bytes;
    this.#maxDepth = maxDepth;
  }

  object(): TopLevel {
    this.#space();
    if (this.#bytes[this.#at] !== OPEN_OBJECT) {
      if (this.#at >= this.#bytes.length) this.#fail('it is empty');
      this.#value(1);
      this.#end();
      throw new GatewayError('invalid_request', 'The body must be a JSON object.');
    }
    const spans = new Map<string, Span>();
    this.#members(1, (key) => {
      if (spans.has(key)) {
        throw new GatewayError('duplicate_parameter', `The body has the key ${JSON.stringify(key)} twice.`, {
          param: key,
        });
      }
      const from = this.#at;
      const kind = this.#value(2);
      spans.set(key, { from, to: this.#at, kind });
    });
    this.#end();
    return spans;
  }

  #end(): void {
    this.#space();
    if (this.#at < this.#bytes.length) this.#fail('something follows the value');
  }

  /** Reads `{"key":value,…}` from its brace; `onValue` reads each value, or `#value` does. */
  #members(depth: number, onValue?: (key: string) => void): void {
    this.#at += 1;
    this.#space();
    if (this.#bytes[this.#at] === CLOSE_OBJECT) {
      this.#at += 1;
      return;
    }
    for (;;) {
      const from = this.#at;
      if (this.#bytes[from] !== QUOTE) this.#fail('a key in quotes is expected');
      this.#string();
      const to = this.#at;
      this.#space();
      if (this.#bytes[this.#at] !== COLON) this.#fail('a colon is expected');
      this.#at += 1;
      this.#space();
      if (onValue) onValue(this.#key(from, to));
      else this.#value(depth + 1);
      if (this.#next(CLOSE_OBJECT)) return;
    }
  }

  #items(depth: number): void {
    this.#at += 1;
    this.#space();
    if (this.#bytes[this.#at] === CLOSE_ARRAY) {
      this.#at += 1;
      return;
    }
    for (;;) {
      this.#value(depth + 1);
      if (this.#next(CLOSE_ARRAY)) return;
    }
  }

  /** After a value: true at `close`; false after a comma, at the next value. */
  #next(close: number): boolean {
    this.#space();
    const byte = this.#bytes[this.#at];
    if (byte !== COMMA && byte !== close) this.#fail('a comma or a closing bracket is expected');
    this.#at += 1;
    if (byte === close) return true;
    this.#space();
    return false;
  }

  #value(depth: number): JsonKind {
    const byte = this.#bytes[this.#at];
    if (byte === QUOTE) {
      this.#string();
      return 'string';
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth > this.#maxDepth) {
        throw new GatewayError(
          'body_too_deep',
          `The body nests deeper than ${this.#maxDepth} levels (limits.json_depth).`,
        );
      }
      if (byte === OPEN_OBJECT) this.#members(depth);
      else this.#items(depth);
      return byte === OPEN_OBJECT ? 'object' : 'array';
    }
    return this.#scalar();
  }

  #scalar(): JsonKind {
    const from = this.#at;
    while (this.#at < this.#bytes.length && !ENDS_SCALAR[this.#bytes[this.#at]!]) this.#at += 1;
    const text = this.#bytes.toString('latin1', from, this.#at);
    if (text === 'true' || text === 'false') return 'boolean';
    if (text === 'null') return 'null';
    if (NUMBER.test(text)) return 'number';
    this.#at = from;
    return this.#fail(text === '' ? 'a value is expected' : `${JSON.stringify(text.slice(0, 20))} is not a JSON value`);
  }

  /** From the opening quote to just past the closing one. */
  #string(): void {
    const bytes = this.#bytes;
    const length = bytes.length;
    let at = this.#at + 1;
    for (; at < length; at += 1) {
      const byte = bytes[at]!;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return;
      }
      if (byte === BACKSLASH) {
        at = this.#escape(at + 1);
      } else if (byte < 0x20) {
        this.#at = at;
        this.#fail('a control character stands in a string');
      }
    }
    this.#fail('a string does not end');
  }

  /** Index of the last byte of the escape whose letter is at `at`. */
  #escape(at: number): number {
    const byte = this.#bytes[at];
    if (byte === 0x75) {
      if (/^[0-9a-fA-F]{4}$/.test(this.#bytes.toString('latin1', at + 1, at + 5))) return at + 4;
    } else if (byte !== undefined && '"\\/bfnrt'.includes(String.fromCharCode(byte))) {
      return at;
    }
    this.#at = at;
    return this.#fail('an escape in a string is not valid');
  }

  #key(from: number, to: number): string {
    const text = this.#bytes.toString('utf8', from, to);
    return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  #space(): void {
    while (SPACE[this.#bytes[this.#at] ?? 0]) this.#at += 1;
  }

  #fail(what: string): never {
    throw new GatewayError('invalid_json', `The body is not valid JSON: ${what} at byte ${this.#at}.`);
  }
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function byteSet(text: string): readonly boolean[] {
  const set = Array.from({ length: 256 }, () => false);
  for (const character of text) set[character.charCodeAt(0)] = true;
  return set;
}
const SPACE = byteSet(' \t\n\r');
const ENDS_SCALAR = byteSet(' \t\n\r,]}:"[{');
