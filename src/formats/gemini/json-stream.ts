import { EventTooLarge, MAX_EVENT_BYTES } from '../sse.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/**
 * Cuts a JSON array, arriving in any split, into its elements: what a Gemini stream is without `alt=sse` (10 recordings). A
 * single object counts as an array of one. Works on bytes: no byte of a multi-byte UTF-8 character is an ASCII one.
 */
export class JsonElementCutter {
  #pieces: Buffer[] = [];
  #held = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Texts of the elements that are whole now, and where in `bytes` each of them ends. */
  push(bytes: Buffer): { readonly elements: string[]; readonly ends: number[] } {
    const elements: string[] = [];
    const ends: number[] = [];
    let from = this.#depth > 0 ? 0 : -1;
    for (let at = 0; at < bytes.length; at += 1) {
      const change = this.#step(bytes[at]!);
      if (change === 'start') from = at;
      else if (change === 'end') {
        elements.push(Buffer.concat([...this.#pieces, bytes.subarray(from, at + 1)]).toString('utf8'));
        this.#pieces = [];
        this.#held = 0;
        from = -1;
        ends.push(at + 1);
      }
    }
    if (from >= 0) this.#hold(bytes.subarray(from));
    return { elements, ends };
  }

  /** True inside an element: the stream was cut there. */
  get open(): boolean {
    return this.#depth > 0;
  }

  /** Elements are objects; the array around them, its commas and white space are skipped. */
  #step(byte: number): 'start' | 'end' | undefined {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return undefined;
    }
    if (byte === QUOTE) this.#inString = this.#depth > 0;
    else if (byte === OPEN || (byte === OPEN_LIST && this.#depth > 0)) {
      this.#depth += 1;
      return this.#depth === 1 ? 'start' : undefined;
    } else if (this.#depth > 0 && (byte === CLOSE || byte === CLOSE_LIST)) {
      this.#depth -= 1;
      return this.#depth === 0 ? 'end' : undefined;
    }
    return undefined;
  }

  #hold(bytes: Buffer): void {
    this.#held += bytes.length;
    if (this.#held > MAX_EVENT_BYTES) throw new EventTooLarge(`an event of the reply exceeds ${MAX_EVENT_BYTES} bytes`);
    this.#pieces.push(bytes);
  }
}
