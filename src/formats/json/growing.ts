import { BACKSLASH, depthStep, QUOTE } from './scan.ts';
import { parseJson } from './object.ts';

/** Values without brackets and quotes that cannot grow. A number can. */
const WORDS = new Set(['null', 'true', 'false']);

/** Finds the end of an object, a list or a string that arrives in fragments, and keeps no text. */
export class JsonEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The outermost value has closed: only white space may follow. */
  closed = false;

  /** It has begun and not ended. */
  get open(): boolean {
    return this.#depth > 0 || this.#inString;
  }

  scan(text: string): void {
    for (let at = 0; at < text.length && !this.closed; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) {
          this.#inString = false;
          this.closed = this.#depth === 0;
        }
      } else if (code === QUOTE) this.#inString = true;
      else {
        const step = depthStep(code);
        this.#depth += step;
        this.closed = step < 0 && this.#depth <= 0;
      }
    }
  }
}

/**
 * JSON text that arrives in fragments. A whole value cannot grow. Each character is scanned once, and only when `whole` is
 * read: parsing the text with every fragment would cost the square of its length.
 */
export class GrowingJson {
  #text = '';
  /** The text that `whole` has not scanned yet. */
  #unseen = '';
  readonly #end = new JsonEnd();
  #parsed: boolean | undefined;

  get text(): string {
    return this.#text;
  }

  add(text: string): void {
    this.#text += text;
    this.#unseen += text;
  }

  /** False for a text that is not JSON, however its brackets match. */
  get whole(): boolean {
    const unseen = this.#unseen;
    this.#unseen = '';
    // Anything but white space behind the value makes the text invalid JSON.
    if (this.#end.closed && unseen.trim() !== '') this.#parsed = false;
    if (!this.#end.closed) this.#end.scan(unseen);
    if (!this.#end.closed) return this.#text.length <= 5 && WORDS.has(this.#text);
    return (this.#parsed ??= parseJson(this.#text) !== undefined);
  }
}
