import { overheadOf, sizeOf } from '../../../core/memory/kept-size.ts';
import { type KeptItem, type KeptNames, type KeptResponse, type NewResponse } from '../../../core/kernel/index.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { ResponseLimits, ResponseStore } from '../../../core/memory/ports.ts';
import { EntryTable, FIELDS, OF_ALL, OF_KEY } from './entry-table.ts';
import { keyedHash } from './keyed-hash.ts';
import { LargestFirst, type Sized } from './largest-first.ts';
import { Pages, PageTable, type Page } from './pages.ts';
import { familyOf, idIn, isOwnId, itemsIn } from './response-places.ts';

/** The fields of an entry: of a response, or of an item that is found by its own id. */
const RESPONSE = FIELDS;
/** The entries of a response's items. */
const MORE = FIELDS + 1;
const ITEMS = FIELDS + 2;
/** In place of the number of items: they have no entries, and are looked for in the response of their family. */
const IN_FAMILY = -1;
/** Place: of a response in its page, with its input behind it; of an item in its response. */
const PAGE = FIELDS + 3;
const FROM = FIELDS + 4;
const LENGTH = FIELDS + 5;
const INPUT_LENGTH = FIELDS + 6;

/** The responses of one key. */
class Part implements Sized {
  readonly anchor: number;
  readonly pages: Pages;
  responses = 0;
  /** Upper estimate of the memory besides the pages. */
  overhead = 0;
  place = 0;

  constructor(anchor: number, pages: Pages) {
    this.anchor = anchor;
    this.pages = pages;
  }

  get bytes(): number {
    return this.pages.size + this.overhead;
  }
}

const hashOfFamily = (id: string): number => {
  const { from, to } = familyOf(id);
  return keyedHash(id, from, to);
};

/** The hashes that find an id: its own, and that of its family if it is in one. */
const hashesOf = (id: string): readonly number[] => (isOwnId(id) ? [keyedHash(id), hashOfFamily(id)] : [keyedHash(id)]);

/**
 * Responses in memory, by key. When it is full, the key that holds the most loses its oldest response: a key cannot evict those
 * of keys that hold less. One per process, in the primary where there are workers; it outlives the settings.
 *
 * A response is bytes in a page and an entry of numbers. A look-up of the id reads it from the bytes. Keeping one takes 1.4 µs
 * when 64 MiB are full; with an object and Maps it took 4.4, and the garbage collector's time for them (measured).
 */
export class MemoryResponses implements ResponseStore {
  readonly #clock: Clock;
  #limits: ResponseLimits = { maxBytes: 0, ttlMs: 0 };
  readonly #parts = new Map<string, Part>();
  readonly #largest = new LargestFirst<Part>();
  readonly #pages = new PageTable();
  readonly #table = new EntryTable();
  /** In the order in which they were kept. */
  readonly #all = this.#table.anchor(OF_ALL);
  #entries = 0;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries, bytes: this.#bytes };
  }

  apply(limits: ResponseLimits): void {
    this.#limits = limits;
    this.#expire();
    this.#evict();
  }

  measure(owner: string, { response, items }: KeptNames): number {
    this.#expire();
    const table = this.#table;
    let bytes = 0;
    const found = response === undefined ? undefined : this.#find(owner, response);
    if (found !== undefined) bytes += table.get(found, LENGTH) + table.get(found, INPUT_LENGTH);
    const counted = new Set<number>();
    for (const id of items)
      for (const hash of hashesOf(id))
        for (let entry = table.find(hash); entry !== 0; entry = table.find(hash, entry)) {
          if (this.#pageOf(entry).owner !== owner || counted.has(entry)) continue;
          // A response whose items have no entries is read for them.
          if (table.get(entry, RESPONSE) === entry && table.get(entry, ITEMS) !== IN_FAMILY) continue;
          counted.add(entry);
          bytes += table.get(entry, LENGTH);
        }
    return bytes;
  }

  find(owner: string, id: string): KeptResponse | undefined {
    this.#expire();
    const entry = this.#find(owner, id);
    if (entry === undefined) return undefined;
    const length = this.#table.get(entry, LENGTH);
    // A copy: the page may be used again while the bytes are sent.
    const bytes = Buffer.from(this.#bytesAt(entry, length + this.#table.get(entry, INPUT_LENGTH)));
    return { id, response: bytes.subarray(0, length), input: bytes.subarray(length) };
  }

  findItems(owner: string, ids: readonly string[]): ReadonlyMap<string, string> {
    this.#expire();
    const read = new Map<number, ReadonlyMap<string, KeptItem>>();
    const found = new Map<string, string>();
    for (const id of ids) {
      const text = this.#findItem(owner, id, read);
      if (text !== undefined) found.set(id, text);
    }
    return found;
  }

  keep(owner: string, kept: NewResponse): void {
    if (sizeOf(kept) > this.#limits.maxBytes) return;
    const now = this.#clock.now();
    this.#expire(now);
    const { id, response, input, items } = kept;
    const earlier = this.#find(owner, id);
    if (earlier !== undefined) this.#drop(earlier);
    const part = this.#partOf(owner);
    const before = part.bytes;
    const page = part.pages.add(response, input);
    const table = this.#table;
    const entry = table.add(items ? keyedHash(id) : hashOfFamily(id));
    table.set(entry, RESPONSE, entry);
    table.set(entry, MORE, 0);
    table.set(entry, ITEMS, items ? 0 : IN_FAMILY);
    table.set(entry, PAGE, page.number);
    table.set(entry, FROM, page.used - response.length - input.length);
    table.set(entry, LENGTH, response.length);
    table.set(entry, INPUT_LENGTH, input.length);
    table.setTime(entry, now + this.#limits.ttlMs);
    table.append(this.#all, entry, OF_ALL);
    table.append(part.anchor, entry, OF_KEY);
    for (const item of items ?? []) this.#addItem(owner, entry, item);
    this.#entries += 1;
    part.responses += 1;
    part.overhead += overheadOf(items?.length ?? 0);
    this.#changed(part, before);
    this.#evict();
  }

  remove(owner: string, id: string): boolean {
    this.#expire();
    const entry = this.#find(owner, id);
    if (entry === undefined) return false;
    this.#drop(entry);
    return true;
  }

  #addItem(owner: string, response: number, { id, from, to }: KeptItem): void {
    const table = this.#table;
    const hash = keyedHash(id);
    this.#hideItem(owner, id, hash);
    const entry = table.add(hash);
    table.set(entry, RESPONSE, response);
    table.set(entry, FROM, from);
    table.set(entry, LENGTH, to - from);
    table.set(entry, MORE, table.get(response, MORE));
    table.set(response, MORE, entry);
    table.set(response, ITEMS, table.get(response, ITEMS) + 1);
  }

  /** An upstream may give many items one id. Only the latest of each key is found, so that a look-up reads few. */
  #hideItem(owner: string, id: string, hash: number): void {
    const table = this.#table;
    for (let entry = table.find(hash); entry !== 0; entry = table.find(hash, entry)) {
      if (table.get(entry, RESPONSE) === entry || this.#pageOf(entry).owner !== owner) continue;
      if (idIn(this.#itemBytes(entry)) === id) return table.hide(entry);
    }
  }

  /** The entry of a response. The bytes of other keys are not read, so that their ids take the time of unknown ones. */
  #find(owner: string, id: string): number | undefined {
    const table = this.#table;
    for (const hash of hashesOf(id)) {
      for (let entry = table.find(hash); entry !== 0; entry = table.find(hash, entry)) {
        if (table.get(entry, RESPONSE) !== entry || this.#pageOf(entry).owner !== owner) continue;
        if (idIn(this.#bytesAt(entry, table.get(entry, LENGTH))) === id) return entry;
      }
    }
    return undefined;
  }

  /** @param read the items of responses that were looked through, by their entries */
  #findItem(owner: string, id: string, read: Map<number, ReadonlyMap<string, KeptItem>>): string | undefined {
    const table = this.#table;
    for (const hash of hashesOf(id)) {
      for (let entry = table.find(hash); entry !== 0; entry = table.find(hash, entry)) {
        if (this.#pageOf(entry).owner !== owner) continue;
        const text = this.#itemAt(entry, id, read);
        if (text) return text.toString('utf8');
      }
    }
    return undefined;
  }

  #itemAt(entry: number, id: string, read: Map<number, ReadonlyMap<string, KeptItem>>): Buffer | undefined {
    const table = this.#table;
    if (table.get(entry, RESPONSE) !== entry) {
      const item = this.#itemBytes(entry);
      return idIn(item) === id ? item : undefined;
    }
    if (table.get(entry, ITEMS) !== IN_FAMILY) return undefined;
    const bytes = this.#bytesAt(entry, table.get(entry, LENGTH));
    let items = read.get(entry);
    if (!items) read.set(entry, (items = new Map(itemsIn(bytes).map((item) => [item.id, item]))));
    const item = items.get(id);
    return item && bytes.subarray(item.from, item.to);
  }

  /** The bytes of an item that has an entry. */
  #itemBytes(entry: number): Buffer {
    const table = this.#table;
    const response = table.get(entry, RESPONSE);
    const from = table.get(entry, FROM);
    return this.#bytesAt(response, table.get(response, LENGTH)).subarray(from, from + table.get(entry, LENGTH));
  }

  #pageOf(entry: number): Page {
    return this.#pages.page(this.#table.get(this.#table.get(entry, RESPONSE), PAGE));
  }

  #bytesAt(response: number, length: number): Buffer {
    const from = this.#table.get(response, FROM);
    return this.#pageOf(response).bytes.subarray(from, from + length);
  }

  #partOf(owner: string): Part {
    let part = this.#parts.get(owner);
    if (!part) {
      part = new Part(this.#table.anchor(OF_KEY), new Pages(this.#pages, owner));
      this.#parts.set(owner, part);
      this.#largest.add(part);
    }
    return part;
  }

  #evict(): void {
    while (this.#bytes > this.#limits.maxBytes) this.#drop(this.#table.oldest(this.#largest.largest!.anchor, OF_KEY));
  }

  /** @param before bytes of the part before the change */
  #changed(part: Part, before: number): void {
    this.#bytes += part.bytes - before;
    this.#largest.changed(part);
  }

  /** The oldest expire first, unless the settings have changed since. */
  #expire(now = this.#clock.now()): void {
    for (;;) {
      const oldest = this.#table.oldest(this.#all, OF_ALL);
      if (oldest === 0 || this.#table.time(oldest) > now) return;
      this.#drop(oldest);
    }
  }

  #drop(response: number): void {
    const table = this.#table;
    const page = this.#pageOf(response);
    const part = this.#parts.get(page.owner)!;
    const before = part.bytes;
    part.overhead -= overheadOf(Math.max(0, table.get(response, ITEMS)));
    table.unlink(response, OF_ALL);
    table.unlink(response, OF_KEY);
    for (let entry = response; entry !== 0;) {
      const next = table.get(entry, MORE);
      table.remove(entry);
      entry = next;
    }
    this.#entries -= 1;
    part.responses -= 1;
    part.pages.drop(page);
    this.#changed(part, before);
    if (part.responses > 0) return;
    this.#parts.delete(page.owner);
    this.#largest.remove(part);
    table.removeAnchor(part.anchor);
  }
}
