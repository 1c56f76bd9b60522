import { MAX_DEPTH } from './json-depth.ts';
import { isChanged } from './rounding.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** Whole numbers of so many digits are the same once they are parsed and written again. */
const SAFE_DIGITS = 15;
/** The largest double has 309 digits. */
const LONGEST_NUMBER = 310;
/** Shorter texts are parsed and written as fast as they are checked here. */
const SHORTEST_TEXT = MAX_DEPTH;
const LONG_WHOLE = /^-?\d{16,}$/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * A value as JSON text that goes into a body as it is (RFC 8259). It is checked, and neither parsed nor written: an object of 1 MB with
 * 60,000 keys costs 4 ms so, and 60 the other way (measured).
 */
export class JsonText {
  readonly text: string;
  readonly isObject: boolean;

  private constructor(text: string, isObject: boolean) {
    this.text = text;
    this.isObject = isObject;
  }

  /**
   * Undefined for a text that has to be parsed: a short one, one that is no JSON or nests too deep, and one with numbers that are
   * others once they are parsed.
   */
  static of(text: string): JsonText | undefined {
    if (text.length <= SHORTEST_TEXT) return undefined;
    const check = new Check(text);
    const isObject = check.space() === OPEN_OBJECT;
    return check.value(1) && check.ends ? new JsonText(text, isObject) : undefined;
  }

  /** A stand-in for `writeJson`; whoever else writes the body writes the object. */
  toJSON(): unknown {
    if (!texts) return JSON.parse(this.text);
    texts.push(this.text);
    return STAND_IN;
  }
}

/** Texts of the body that is being written, in the order of their places. */
let texts: string[] | undefined;

/** A number in a form that JSON.stringify writes no other in. */
const STAND_IN = JSON.rawJSON('1E+0000');
const PLACE = '":1E+0000';

/** JSON of a body that may hold `JsonText`. */
export function writeJson(body: unknown): string {
  texts = [];
  try {
    const written = JSON.stringify(body);
    return texts.length === 0 ? written : withTexts(written, texts);
  } finally {
    texts = undefined;
  }
}

/**
 * Strings hold no quote without a backslash before it, so what looks like a place is one unless a backslash is before it. The names of
 * the members that hold texts end in none.
 */
function withTexts(written: string, held: readonly string[]): string {
  const pieces: string[] = [];
  let from = 0;
  let search = 0;
  for (const text of held) {
    let at = written.indexOf(PLACE, search);
    while (written.charCodeAt(at - 1) === BACKSLASH) at = written.indexOf(PLACE, at + 1);
    search = at + PLACE.length;
    pieces.push(written.slice(from, at + 2), text);
    from = search;
  }
  pieces.push(written.slice(from));
  return pieces.join('');
}

class Check {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get ends(): boolean {
    this.space();
    return this.#at >= this.#text.length;
  }

  /** The character behind white space. */
  space(): number {
    let code = this.#text.charCodeAt(this.#at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.#text.charCodeAt(++this.#at);
    return code;
  }

  value(depth: number): boolean {
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#string();
    if (code === OPEN_OBJECT) return depth <= MAX_DEPTH && this.#members(depth);
    if (code === OPEN_ARRAY) return depth <= MAX_DEPTH && this.#items(depth);
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.#number();
    return this.#word('true') || this.#word('false') || this.#word('null');
  }

  #members(depth: number): boolean {
    this.#at += 1;
    if (this.space() === CLOSE_OBJECT) return this.#pass();
    for (;;) {
      if (this.space() !== QUOTE || !this.#string() || this.space() !== COLON) return false;
      this.#at += 1;
      this.space();
      if (!this.value(depth + 1)) return false;
      const code = this.space();
      if (code === CLOSE_OBJECT) return this.#pass();
      if (code !== COMMA) return false;
      this.#at += 1;
    }
  }

  #items(depth: number): boolean {
    this.#at += 1;
    if (this.space() === CLOSE_ARRAY) return this.#pass();
    for (;;) {
      this.space();
      if (!this.value(depth + 1)) return false;
      const code = this.space();
      if (code === CLOSE_ARRAY) return this.#pass();
      if (code !== COMMA) return false;
      this.#at += 1;
    }
  }

  #pass(): true {
    this.#at += 1;
    return true;
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  /** Short integers are most numbers, and need no pattern. */
  #number(): boolean {
    const from = this.#at;
    let at = from;
    let code = this.#text.charCodeAt(at);
    while (code >= ZERO && code <= NINE) code = this.#text.charCodeAt(++at);
    const isShort = at > from && at - from <= SAFE_DIGITS && code !== 0x2e && code !== 0x65 && code !== 0x45;
    if (isShort && (at - from === 1 || this.#text.charCodeAt(from) !== ZERO)) {
      this.#at = at;
      return true;
    }
    NUMBER.lastIndex = from;
    const [number] = NUMBER.exec(this.#text) ?? [];
    if (number === undefined || !isKept(number)) return false;
    this.#at = NUMBER.lastIndex;
    return true;
  }

  #string(): boolean {
    const text = this.#text;
    let at = this.#at + 1;
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return true;
      }
      if (code < 0x20) return false;
      if (code === BACKSLASH) {
        at += 1;
        const escape = text.charCodeAt(at);
        if (escape === 0x75) {
          if (!isHex(text, at + 1)) return false;
          at += 4;
        } else if (!ESCAPES.has(escape)) return false;
      }
    }
    return false;
  }
}

/** Who parses it reads the same number, and not one that was rounded or that no double can be. */
function isKept(number: string): boolean {
  if (number.length > LONGEST_NUMBER) return false;
  return LONG_WHOLE.test(number) ? !isChanged(number) : Number.isFinite(Number(number));
}

const ESCAPES: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));

function isHex(text: string, from: number): boolean {
  for (let at = from; at < from + 4; at += 1) {
    const code = text.charCodeAt(at);
    const letter = code | 0x20;
    if (!((code >= ZERO && code <= NINE) || (letter >= 0x61 && letter <= 0x66))) return false;
  }
  return true;
}
