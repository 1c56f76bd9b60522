import { randomInt } from 'node:crypto';
import { unquoted } from '../../../formats/json/scan.ts';

/** Odd. Nobody who does not know it can write keys that collide. */
const FACTOR = randomInt(2 ** 31) * 2 + 1;

const FEWEST = 256;
/** A table of a scan with more keys is not kept. */
const MOST_KEPT = 65_536;

/** Of the keys of open objects, outer ones first. Scans do not overlap, so they share the lists: a scan takes no memory of its own. */
const hashes: number[] = [];
const starts: number[] = [];
const ends: number[] = [];
/** Where the key stands in the table. */
const slotsOf: number[] = [];
let held = 0;
/** A hash table of places in the lists, which begin at 1. A key that leaves is always the one that came last. */
let table = new Int32Array(FEWEST);

/** Finds a key that an object has twice while a scan goes by. */
export class OpenKeys {
  readonly #bytes: Buffer;
  /** The lists have the keys of the current object from here. */
  #base = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    if (table.length > MOST_KEPT) table = new Int32Array(FEWEST);
    // A scan that failed has left its keys.
    else if (held > 0) table.fill(0);
    held = 0;
  }

  /** Returns the object around the new one, for `close`. */
  open(): number {
    const outer = this.#base;
    this.#base = held;
    return outer;
  }

  close(outer: number): void {
    while (held > this.#base) table[slotsOf[--held]!] = 0;
    this.#base = outer;
  }

  /**
   * Adds a key to the current object. False if it is there already.
   * @param from index of the opening quote
   * @param to index of the closing one
   */
  add(from: number, to: number, isEscaped: boolean): boolean {
    const hash = isEscaped ? hashOfName(this.#name(from, to)) : hashOf(this.#bytes, from + 1, to);
    const mask = table.length - 1;
    let slot = hash & mask;
    for (let at = table[slot]!; at > 0; at = table[slot]!) {
      if (at > this.#base && hashes[at - 1] === hash && this.#isSame(at - 1, from, to)) return false;
      slot = (slot + 1) & mask;
    }
    hashes[held] = hash;
    starts[held] = from;
    ends[held] = to;
    slotsOf[held] = slot;
    table[slot] = ++held;
    if (held * 2 > table.length) grow();
    return true;
  }

  #isSame(at: number, from: number, to: number): boolean {
    const [start, end] = [starts[at]!, ends[at]!];
    return (
      this.#bytes.compare(this.#bytes, start, end, from, to) === 0 || this.#name(start, end) === this.#name(from, to)
    );
  }

  #name(from: number, to: number): string {
    return unquoted(this.#bytes.toString('utf8', from, to + 1));
  }
}

function grow(): void {
  table = new Int32Array(table.length * 2);
  for (let at = 0; at < held; at += 1) {
    let slot = hashes[at]! & (table.length - 1);
    while (table[slot]! > 0) slot = (slot + 1) & (table.length - 1);
    slotsOf[at] = slot;
    table[slot] = at + 1;
  }
}

function hashOf(units: ArrayLike<number>, from: number, to: number): number {
  let hash = to - from;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ units[at]!, FACTOR);
  return hash ^ (hash >>> 15);
}

/** Of a name as it would be without escapes. UTF-8 cannot hold half of a surrogate pair. */
function hashOfName(name: string): number {
  const units = name.isWellFormed() ? Buffer.from(name) : Buffer.from(name, 'utf16le');
  return hashOf(units, 0, units.length);
}
