/** The fields of an entry. The table itself uses the first seven, its user those from FIELDS on. */
const NEXT = 0;
const HASH = 1;
/** The orders: each has the entry before, and behind it the entry after. */
export const OF_ALL = 2;
export const OF_KEY = 4;
/** The entry before it in its bucket; 0: it is the first. */
const BEFORE = 6;
export const FIELDS = 7;
const WIDTH = 16;
const LEAST = 64;
/** In place of the next entry: no hash finds the entry. It is an anchor, or it was hidden. */
const HIDDEN = -1;

/**
 * Entries of whole numbers in one array that grows, each found by a hash, in two orders: V8 neither copies nor marks what is in them.
 * Objects and Maps for as many entries, which come and go for an hour, are copied twice and then collected with the whole heap.
 * Entry 0 stands for none. An order is a ring through an entry of its own, its anchor.
 */
export class EntryTable {
  #numbers = new Int32Array(LEAST * WIDTH);
  #times = new Float64Array(LEAST);
  /** The first entry of each hash; a power of two. */
  #buckets = new Int32Array(LEAST);
  #free = 0;
  #unused = 1;

  get(entry: number, field: number): number {
    return this.#numbers[entry * WIDTH + field]!;
  }

  set(entry: number, field: number, value: number): void {
    this.#numbers[entry * WIDTH + field] = value;
  }

  time(entry: number): number {
    return this.#times[entry]!;
  }

  setTime(entry: number, time: number): void {
    this.#times[entry] = time;
  }

  hashOf(entry: number): number {
    return this.get(entry, HASH);
  }

  /** A new entry. Its fields have any value. */
  add(hash: number): number {
    const entry = this.#take();
    this.set(entry, HASH, hash);
    this.#chain(entry);
    return entry;
  }

  /** The entry must be in no order. */
  remove(entry: number): void {
    this.hide(entry);
    this.#give(entry);
  }

  /** Takes the entry from those with its hash. It stays in its orders. */
  hide(entry: number): void {
    const next = this.get(entry, NEXT);
    if (next === HIDDEN) return;
    const before = this.get(entry, BEFORE);
    if (before === 0) this.#buckets[this.hashOf(entry) & (this.#buckets.length - 1)] = next;
    else this.set(before, NEXT, next);
    if (next !== 0) this.set(next, BEFORE, before);
    this.set(entry, NEXT, HIDDEN);
  }

  /** The first entry with the hash behind `after`; 0: there is none. */
  find(hash: number, after = 0): number {
    let entry = after === 0 ? this.#buckets[hash & (this.#buckets.length - 1)]! : this.get(after, NEXT);
    while (entry !== 0 && this.hashOf(entry) !== hash) entry = this.get(entry, NEXT);
    return entry;
  }

  /** A new order that has no entries. */
  anchor(order: number): number {
    const entry = this.#take();
    this.set(entry, NEXT, HIDDEN);
    this.#link(entry, entry, order);
    return entry;
  }

  /** The order must have no entries. */
  removeAnchor(anchor: number): void {
    this.#give(anchor);
  }

  /** Puts the entry at the end of the order. */
  append(anchor: number, entry: number, order: number): void {
    this.#link(this.get(anchor, order), entry, order);
    this.#link(entry, anchor, order);
  }

  /** Takes the entry out of its order. */
  unlink(entry: number, order: number): void {
    this.#link(this.get(entry, order), this.get(entry, order + 1), order);
  }

  /** The oldest entry of the order; 0: there is none. */
  oldest(anchor: number, order: number): number {
    const entry = this.get(anchor, order + 1);
    return entry === anchor ? 0 : entry;
  }

  #link(older: number, newer: number, order: number): void {
    this.set(older, order + 1, newer);
    this.set(newer, order, older);
  }

  #give(entry: number): void {
    this.set(entry, NEXT, this.#free);
    this.#free = entry;
  }

  #take(): number {
    const entry = this.#free;
    if (entry !== 0) {
      this.#free = this.get(entry, NEXT);
      return entry;
    }
    if (this.#unused === this.#times.length) this.#grow();
    return this.#unused++;
  }

  #grow(): void {
    const length = 2 * this.#times.length;
    const [numbers, times] = [new Int32Array(length * WIDTH), new Float64Array(length)];
    numbers.set(this.#numbers);
    times.set(this.#times);
    this.#numbers = numbers;
    this.#times = times;
    this.#buckets = new Int32Array(length);
    // Every entry is in use: the table grows when none is free.
    for (let entry = 1; entry < this.#unused; entry += 1) {
      if (this.get(entry, NEXT) !== HIDDEN) this.#chain(entry);
    }
  }

  /** Puts the entry before the others of its bucket. Upstreams choose ids, so many may have one hash: both its neighbours are known. */
  #chain(entry: number): void {
    const bucket = this.hashOf(entry) & (this.#buckets.length - 1);
    const next = this.#buckets[bucket]!;
    this.set(entry, NEXT, next);
    this.set(entry, BEFORE, 0);
    if (next !== 0) this.set(next, BEFORE, entry);
    this.#buckets[bucket] = entry;
  }
}
