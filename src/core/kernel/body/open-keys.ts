import { randomInt } from 'node:crypto';
import { unquoted } from '../../../formats/json/scan.ts';

/** An object with more keys, or one with an escaped key, has a set of hashes. */
const FEW = 16;
/** Odd, and secret: a client cannot choose keys that have the same hash. */
const FACTOR = randomInt(2 ** 31) * 2 + 1;

/** The keys of open objects, outer ones first: the index of the opening quote. Scans do not overlap, so they share the lists. */
const starts: number[] = [];
/** The index of the closing quote. */
const ends: number[] = [];
/** Of open objects, by depth: where their keys begin in the lists. */
const firsts: number[] = [];
/** A bit for each shape of a key: most keys of an object differ in their length or an outer letter. */
const shapes: number[] = [];
const sets: (Set<number> | undefined)[] = [];

/** Finds a key that an object has twice while a scan goes by. Most keys take 30 ns, those of large objects 180 (measured). */
export class OpenKeys {
  readonly #bytes: Buffer;
  #depth = 0;
  #held = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    // A scan that failed has left its sets.
    sets.length = 0;
  }

  open(): void {
    const depth = ++this.#depth;
    firsts[depth] = this.#held;
    shapes[depth] = 0;
    sets[depth] = undefined;
  }

  close(): void {
    this.#held = firsts[this.#depth]!;
    sets[this.#depth--] = undefined;
  }

  /**
   * Adds a key to the current object. False if it is there already.
   * @param from index of the opening quote
   * @param to index of the closing one
   */
  add(from: number, to: number, isEscaped: boolean): boolean {
    const depth = this.#depth;
    const at = this.#held++;
    starts[at] = from;
    ends[at] = to;
    const shape = 1 << ((this.#bytes[from + 1]! ^ (this.#bytes[to - 1]! << 1) ^ ((to - from) * 5)) & 31);
    const first = firsts[depth]!;
    if (!sets[depth] && !isEscaped && at - first < FEW) {
      const isNew = (shapes[depth]! & shape) === 0;
      shapes[depth]! |= shape;
      return isNew || !this.#isAmong(first, at);
    }
    const hashes = (sets[depth] ??= this.#hashesOf(first, at));
    const before = hashes.size;
    return hashes.add(this.#hash(from, to, isEscaped)).size > before || !this.#isNamed(first, at);
  }

  #isAmong(first: number, at: number): boolean {
    const [from, to] = [starts[at]!, ends[at]!];
    for (let other = first; other < at; other += 1) {
      const length = ends[other]! - starts[other]!;
      if (length === to - from && this.#isSame(starts[other]!, from, to)) return true;
    }
    return false;
  }

  #isSame(start: number, from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) if (this.#bytes[at] !== this.#bytes[start + at - from]) return false;
    return true;
  }

  /** `#isAmong` for keys of which some may be escaped. */
  #isNamed(first: number, at: number): boolean {
    const name = this.#name(at);
    for (let other = first; other < at; other += 1) if (this.#name(other) === name) return true;
    return false;
  }

  #name(at: number): string {
    return unquoted(this.#bytes.toString('utf8', starts[at], ends[at]! + 1));
  }

  /** Of the keys before one that is the first with an escape, or the first of too many. */
  #hashesOf(first: number, at: number): Set<number> {
    const hashes = new Set<number>();
    for (let other = first; other < at; other += 1) hashes.add(this.#hash(starts[other]!, ends[other]!, false));
    return hashes;
  }

  #hash(from: number, to: number, isEscaped: boolean): number {
    if (!isEscaped) return hashOf(this.#bytes, from + 1, to);
    const name = unquoted(this.#bytes.toString('utf8', from, to + 1));
    // UTF-8 cannot hold half of a surrogate pair.
    const units = name.isWellFormed() ? Buffer.from(name) : Buffer.from(name, 'utf16le');
    return hashOf(units, 0, units.length);
  }
}

function hashOf(units: ArrayLike<number>, from: number, to: number): number {
  let hash = to - from;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ units[at]!, FACTOR);
  return hash ^ (hash >>> 15);
}
