import { overheadOf, sizeOf } from '../../../core/memory/kept-size.ts';
import { familyOf, itemsIn } from './response-places.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { KeptItem, KeptNames, KeptResponse, NewResponse } from '../../../core/kernel/index.ts';
import type { ResponseLimits, ResponseStore } from '../../../core/memory/ports.ts';
import { LargestFirst, type Sized } from './largest-first.ts';
import { Pages, type Page } from './pages.ts';
import { AgeQueue, type Link } from './age-queue.ts';

interface Entry {
  readonly part: KeyResponses;
  readonly id: string;
  readonly page: Page;
  /** Place of the response in its page; its input is behind it. */
  readonly from: number;
  readonly length: number;
  readonly inputLength: number;
  readonly items: readonly KeptItem[] | undefined;
  /** Monotonic milliseconds. */
  readonly expiresAt: number;
  inAll: Link<Entry> | undefined;
  inPart: Link<Entry> | undefined;
}

interface Place extends KeptItem {
  readonly entry: Entry;
}

class KeyResponses implements Sized {
  readonly owner: string;
  readonly responses = new Map<string, Entry>();
  /** An upstream may give many items one id: the latest is found. */
  readonly items = new Map<string, Place>();
  /** Responses whose items are in the family of their id, by the family. */
  readonly families = new Map<string, Entry>();
  readonly order = new AgeQueue<Entry>();
  readonly pages: Pages;
  /** Upper estimate of the memory besides the pages. */
  overhead = 0;
  place = 0;

  constructor(owner: string, pages: Pages) {
    this.owner = owner;
    this.pages = pages;
  }

  get bytes(): number {
    return this.pages.size + this.overhead;
  }
}

const familyIn = (id: string): string => {
  const { from, to } = familyOf(id);
  return id.slice(from, to);
};

/**
 * Responses in memory, by key. When it is full, the key that holds the most loses its oldest response: a key cannot evict those
 * of keys that hold less. One per process, in the primary where there are workers; it outlives the settings.
 *
 * Most responses are never read again, so their bytes are in pages and stay JSON.
 */
export class MemoryResponses implements ResponseStore {
  readonly #clock: Clock;
  #limits: ResponseLimits = { maxBytes: 0, ttlMs: 0 };
  readonly #parts = new Map<string, KeyResponses>();
  readonly #largest = new LargestFirst<KeyResponses>();
  readonly #order = new AgeQueue<Entry>();
  readonly #free: Buffer[] = [];
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Bytes of all responses, with an estimate of what they take besides. */
  get bytes(): number {
    return this.#bytes;
  }

  apply(limits: ResponseLimits): void {
    this.#limits = limits;
    this.#expire();
    this.#evict();
  }

  measure(owner: string, { response, items }: KeptNames): number {
    const part = this.#partOf(owner);
    const kept = response === undefined ? undefined : part?.responses.get(response);
    const places = new Set(items.map((id) => part?.items.get(id)));
    // These responses are read for their items.
    const read = new Set(items.map((id) => (part?.items.has(id) ? undefined : part?.families.get(familyIn(id)))));
    let bytes = kept ? kept.length + kept.inputLength : 0;
    for (const place of places) if (place) bytes += place.to - place.from;
    for (const entry of read) if (entry) bytes += entry.length;
    return bytes;
  }

  find(owner: string, id: string): KeptResponse | undefined {
    const kept = this.#partOf(owner)?.responses.get(id);
    if (!kept) return undefined;
    const { page, from, length, inputLength } = kept;
    // A copy: the page may be used again while the bytes are sent.
    const bytes = Buffer.from(page.bytes.subarray(from, from + length + inputLength));
    return { id, response: bytes.subarray(0, length), input: bytes.subarray(length) };
  }

  findItems(owner: string, ids: readonly string[]): ReadonlyMap<string, string> {
    const part = this.#partOf(owner);
    const found = new Map<string, string>();
    const read = new Map<Entry, ReadonlyMap<string, KeptItem>>();
    for (const id of ids) {
      const place = part?.items.get(id);
      const entry = place ? place.entry : part?.families.get(familyIn(id));
      if (!entry) continue;
      if (!place && !read.has(entry))
        read.set(entry, new Map(itemsIn(responseOf(entry)).map((item) => [item.id, item])));
      const item = place ?? read.get(entry)?.get(id);
      if (item) found.set(id, responseOf(entry).toString('utf8', item.from, item.to));
    }
    return found;
  }

  keep(owner: string, kept: NewResponse): void {
    if (sizeOf(kept) > this.#limits.maxBytes) return;
    this.remove(owner, kept.id);
    const part = this.#partOf(owner) ?? this.#addPart(owner);
    const before = part.bytes;
    const { id, response, input, items } = kept;
    const page = part.pages.add(response, input);
    const [length, inputLength] = [response.length, input.length];
    const place = { page, from: page.used - length - inputLength, length, inputLength };
    const expiresAt = this.#clock.now() + this.#limits.ttlMs;
    const entry: Entry = { part, id, ...place, items, expiresAt, inAll: undefined, inPart: undefined };
    entry.inAll = this.#order.add(entry);
    entry.inPart = part.order.add(entry);
    part.responses.set(id, entry);
    if (!items) part.families.set(familyIn(id), entry);
    for (const item of items ?? []) part.items.set(item.id, { ...item, entry });
    part.overhead += overheadOf(items?.length ?? 0);
    this.#changed(part, before);
    this.#evict();
  }

  remove(owner: string, id: string): boolean {
    const entry = this.#partOf(owner)?.responses.get(id);
    if (entry) this.#drop(entry);
    return entry !== undefined;
  }

  /** Undefined for a key that has no responses. */
  #partOf(owner: string): KeyResponses | undefined {
    this.#expire();
    return this.#parts.get(owner);
  }

  #addPart(owner: string): KeyResponses {
    const part = new KeyResponses(owner, new Pages(this.#free));
    this.#parts.set(owner, part);
    this.#largest.add(part);
    return part;
  }

  #evict(): void {
    while (this.#bytes > this.#limits.maxBytes) this.#drop(this.#largest.largest!.order.oldest!);
  }

  /** @param before bytes of the part before the change */
  #changed(part: KeyResponses, before: number): void {
    this.#bytes += part.bytes - before;
    this.#largest.changed(part);
  }

  /** The oldest expire first, unless the settings have changed since. */
  #expire(): void {
    const now = this.#clock.now();
    for (let entry = this.#order.oldest; entry && entry.expiresAt <= now; entry = this.#order.oldest) this.#drop(entry);
  }

  #drop(entry: Entry): void {
    const { part, id, items, page } = entry;
    const before = part.bytes;
    this.#order.remove(entry.inAll!);
    part.order.remove(entry.inPart!);
    part.responses.delete(id);
    if (part.families.get(familyIn(id)) === entry) part.families.delete(familyIn(id));
    for (const item of items ?? []) if (part.items.get(item.id)?.entry === entry) part.items.delete(item.id);
    part.overhead -= overheadOf(items?.length ?? 0);
    part.pages.drop(page);
    this.#changed(part, before);
    if (part.responses.size > 0) return;
    this.#parts.delete(part.owner);
    this.#largest.remove(part);
  }
}

const responseOf = ({ page, from, length }: Entry): Buffer => page.bytes.subarray(from, from + length);
