/** A value's place in a chain. */
export interface Link<T> {
  readonly value: T;
  before: Link<T> | undefined;
  after: Link<T> | undefined;
}

/**
 * Values in the order in which they came. A Set or Map keeps the places of removed values until it grows and passes them at each
 * look at its first value (measured: 25 µs for each with 14,000 values).
 */
export class LinkedChain<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get first(): T | undefined {
    return this.#first?.value;
  }

  add(value: T): Link<T> {
    const link: Link<T> = { value, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = link;
    else this.#first = link;
    return (this.#last = link);
  }

  /** The link must be in this chain. */
  remove({ before, after }: Link<T>): void {
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
  }
}
