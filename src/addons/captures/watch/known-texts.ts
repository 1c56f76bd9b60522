/** Shorter texts occur in many words, and no real credential is so short. */
export const SHORTEST = 8;

/** Ten thousand secrets of settings, found in a time that depends on the text that is searched and hardly on their number. */
export class KnownTexts {
  readonly #byStart = new Map<string, Map<number, Set<string>>>();
  /** By the first two characters: most places of a text need no more. */
  readonly #starts = new Uint8Array(256 * 256);

  /** @param texts in latin1, each of at least `SHORTEST` characters */
  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const start = text.slice(0, SHORTEST);
      this.#starts[pairAt(text, 0)] = 1;
      let same = this.#byStart.get(start);
      if (!same) this.#byStart.set(start, (same = new Map()));
      const alike = same.get(text.length);
      if (alike) alike.add(text);
      else same.set(text.length, new Set([text]));
    }
  }

  /** From where to where in a text something is known. */
  *placesIn(text: string): Generator<readonly [from: number, to: number]> {
    let last = 0;
    for (let at = 0; at <= text.length - SHORTEST; at += 1) {
      if (this.#starts[pairAt(text, at)] === 0) continue;
      const end = at + this.#longestAt(text, at);
      if (end <= Math.max(at, last)) continue;
      yield [at, end];
      last = end;
    }
  }

  #longestAt(text: string, at: number): number {
    const same = this.#byStart.get(text.slice(at, at + SHORTEST));
    let longest = 0;
    for (const [length, alike] of same ?? [])
      if (length > longest && alike.has(text.slice(at, at + length))) longest = length;
    return longest;
  }
}

const pairAt = (text: string, at: number): number => (text.charCodeAt(at) << 8) | text.charCodeAt(at + 1);
