import { ByteBuffer } from '../sse/held-bytes.ts';
import { QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY } from '../json/scan.ts';

/** Complete elements: the bytes up to the end of the last one, the text of each, and the end of each in the bytes. */
export interface CutElements {
  readonly whole: Buffer | undefined;
  readonly texts: readonly string[];
  readonly ends: readonly number[];
}

const NONE: CutElements = { whole: undefined, texts: [], ends: [] };

/**
 * Cuts a JSON array, arriving in any split, into its elements. A Gemini stream without `alt=sse` is such an array (10
 * recordings). A single object counts as an array of one. Works on bytes: no byte of a multi-byte UTF-8 character is an
 * ASCII one.
 */
export class JsonElementCutter {
  readonly #held = new ByteBuffer();
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Where the open element begins, counted from the first byte held. */
  #start = 0;

  push(bytes: Buffer): CutElements {
    const starts: number[] = [];
    const ends: number[] = [];
    this.#scan(bytes, starts, ends);
    if (ends.length === 0) {
      this.#held.add(bytes, 0);
      return NONE;
    }
    const length = ends.at(-1)!;
    const cut = length - this.#held.length;
    const whole = this.#held.take(bytes, cut);
    this.#held.add(bytes, cut);
    this.#start -= length;
    return { whole, texts: ends.map((end, at) => whole.toString('utf8', starts[at], end)), ends };
  }

  /** Returns the bytes that are held after the last complete element. */
  rest(): Buffer {
    return this.#held.take();
  }

  /** True inside an element: the stream was cut there. */
  get open(): boolean {
    return this.#depth > 0;
  }

  /**
   * Notes where elements begin and end, counted from the first byte held. Elements are objects; the array around them,
   * its commas and white space are skipped. One loop over local variables reads each byte once, because this loop is
   * all the work of a long read.
   */
  #scan(bytes: Buffer, starts: number[], ends: number[]): void {
    const held = this.#held.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let start = this.#start;
    let at = this.#escaped ? 1 : 0;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (inString) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = depth > 0;
      else if (byte === OPEN_OBJECT || (byte === OPEN_ARRAY && depth > 0)) {
        if (depth === 0) start = held + at;
        depth += 1;
      } else if (depth > 0 && (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY)) {
        depth -= 1;
        if (depth > 0) continue;
        starts.push(start);
        ends.push(held + at + 1);
      }
    }
    this.#escaped = at > bytes.length;
    this.#depth = depth;
    this.#inString = inString;
    this.#start = start;
  }
}
