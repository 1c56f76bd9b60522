export interface Sized {
  readonly bytes: number;
  place: number;
}

/** The largest of many things, in a binary heap: each change takes the logarithm of their number. */
export class LargestFirst<T extends Sized> {
  readonly #heap: T[] = [];

  get largest(): T | undefined {
    return this.#heap[0];
  }

  add(one: T): void {
    one.place = this.#heap.length;
    this.#heap.push(one);
    this.changed(one);
  }

  remove(one: T): void {
    const last = this.#heap.pop()!;
    if (last === one) return;
    this.#put(last, one.place);
    this.changed(last);
  }

  changed(one: T): void {
    let at = one.place;
    for (let above = (at - 1) >> 1; at > 0 && this.#heap[above]!.bytes < one.bytes; above = (at - 1) >> 1) {
      this.#put(this.#heap[above]!, at);
      at = above;
    }
    for (let below = this.#larger(2 * at + 1); below && below.bytes > one.bytes; below = this.#larger(2 * at + 1)) {
      const from = below.place;
      this.#put(below, at);
      at = from;
    }
    this.#put(one, at);
  }

  /** The larger of two neighbours, of which the second or both may be missing. */
  #larger(at: number): T | undefined {
    const [one, other] = [this.#heap[at], this.#heap[at + 1]];
    return one && other && other.bytes > one.bytes ? other : one;
  }

  #put(one: T, at: number): void {
    this.#heap[at] = one;
    one.place = at;
  }
}
