import type { Clock, Found, KeptItem, KeptResponse } from '../../plugin/index.ts';
import type { ResponseLimits, ResponseStore } from '../ports.ts';
import { LinkedChain, type Link } from './chain.ts';
import { copyOf, FreePages, Pages, textIn, type PagePlace } from './pages.ts';

/** A response; its bytes and behind them those of its input are at `place`. */
interface Held extends Pick<KeptResponse, 'id' | 'output' | 'items'> {
  readonly owner: string;
  readonly place: PagePlace;
  /** Length of the response. */
  readonly length: number;
  readonly expiresAt: number;
  /** Its places in the orders of all and of its key. */
  ofAll: Link<Held> | undefined;
  ofKey: Link<Held> | undefined;
}

/** The responses of one key. */
interface Part {
  readonly responses: Map<string, Held>;
  readonly order: LinkedChain<Held>;
  /** Output items by their ids. */
  readonly items: Map<string, { readonly held: Held; readonly item: KeptItem }>;
  readonly pages: Pages;
  /** Upper estimate of the memory besides the pages. */
  overhead: number;
}

const bytesOf = ({ pages, overhead }: Part): number => pages.size + overhead;

/**
 * Responses in memory, by key. When it is full, the key that holds the most loses its oldest response: a key cannot evict those
 * of keys that hold less. One per process, in the primary where there are workers; it outlives the settings.
 */
export class MemoryResponses implements ResponseStore {
  readonly #clock: Clock;
  #limits: ResponseLimits = { maxBytes: 0, ttlMs: 0 };
  readonly #parts = new Map<string, Part>();
  /** In the order in which they were kept. */
  readonly #order = new LinkedChain<Held>();
  #entries = 0;
  readonly #free = new FreePages();
  /** How many keys have an id, of a response or of an item. */
  readonly #holders = new Map<string, number>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#entries, bytes: this.#bytes };
  }

  apply(limits: ResponseLimits): void {
    this.#limits = limits;
    this.#evict();
  }

  find(owner: string, id: string): Found<KeptResponse> {
    this.#expire();
    const found = this.#parts.get(owner)?.responses.get(id);
    return found ? keptOf(found) : this.#foreign(id);
  }

  findItems(owner: string, ids: readonly string[]): ReadonlyMap<string, Found<string>> {
    this.#expire();
    const part = this.#parts.get(owner);
    return new Map(
      ids.map((id) => {
        const found = part?.items.get(id);
        return [id, found ? textIn(found.held.place, found.item) : this.#foreign(id)];
      }),
    );
  }

  keep(owner: string, kept: KeptResponse): void {
    if (sizeOf(kept) > this.#limits.maxBytes) return;
    this.remove(owner, kept.id);
    const { id, response, output, items, input } = kept;
    const part = this.#partOf(owner);
    const before = bytesOf(part);
    const place = part.pages.add(response, input);
    const expiresAt = this.#clock.now() + this.#limits.ttlMs;
    const { length } = response;
    const held: Held = { owner, id, output, items, place, length, expiresAt, ofAll: undefined, ofKey: undefined };
    held.ofAll = this.#order.add(held);
    held.ofKey = part.order.add(held);
    part.responses.set(id, held);
    this.#entries += 1;
    this.#count(id, 1);
    for (const item of items) {
      if (!part.items.has(item.id)) this.#count(item.id, 1);
      part.items.set(item.id, { held, item });
    }
    part.overhead += overheadOf(held);
    this.#bytes += bytesOf(part) - before;
    this.#evict();
  }

  remove(owner: string, id: string): boolean {
    this.#expire();
    const found = this.#parts.get(owner)?.responses.get(id);
    if (found) this.#drop(found);
    return found !== undefined;
  }

  #foreign(id: string): 'foreign' | undefined {
    return this.#holders.has(id) ? 'foreign' : undefined;
  }

  #partOf(owner: string): Part {
    let part = this.#parts.get(owner);
    if (!part) this.#parts.set(owner, (part = newPart(this.#free)));
    return part;
  }

  #evict(): void {
    this.#expire();
    while (this.#bytes > this.#limits.maxBytes) {
      const { first: oldest } = this.#largest().order;
      this.#drop(oldest!);
    }
  }

  #largest(): Part {
    let largest: Part | undefined;
    for (const part of this.#parts.values()) if (!largest || bytesOf(part) > bytesOf(largest)) largest = part;
    return largest!;
  }

  /** The oldest expire first, unless the settings have changed since. */
  #expire(): void {
    const now = this.#clock.now();
    for (let { first } = this.#order; first && first.expiresAt <= now; { first } = this.#order) this.#drop(first);
  }

  #drop(held: Held): void {
    const { owner, id, items, place, ofAll, ofKey } = held;
    const part = this.#parts.get(owner);
    if (!part || !ofAll || !ofKey) return;
    this.#order.remove(ofAll);
    part.order.remove(ofKey);
    part.responses.delete(id);
    this.#entries -= 1;
    this.#count(id, -1);
    for (const item of items) {
      if (part.items.get(item.id)?.held !== held) continue;
      part.items.delete(item.id);
      this.#count(item.id, -1);
    }
    const before = bytesOf(part);
    part.pages.drop(place);
    part.overhead -= overheadOf(held);
    this.#bytes += bytesOf(part) - before;
    if (part.responses.size === 0) this.#parts.delete(owner);
  }

  #count(id: string, change: number): void {
    const holders = (this.#holders.get(id) ?? 0) + change;
    if (holders > 0) this.#holders.set(id, holders);
    else this.#holders.delete(id);
  }
}

const newPart = (free: FreePages): Part => ({
  responses: new Map(),
  order: new LinkedChain(),
  items: new Map(),
  pages: new Pages(free),
  overhead: 0,
});

function keptOf({ id, output, items, place, length }: Held): KeptResponse {
  const bytes = copyOf(place);
  return { id, output, items, response: bytes.subarray(0, length), input: bytes.subarray(length) };
}

/** An upper estimate of the memory besides the bytes: of a response and of an item, with their places in the tables. */
const RESPONSE_BYTES = 1024;
const ITEM_BYTES = 512;

const overheadOf = ({ items }: Pick<KeptResponse, 'items'>): number => RESPONSE_BYTES + ITEM_BYTES * items.length;

export const sizeOf = (kept: Pick<KeptResponse, 'response' | 'input' | 'items'>): number =>
  overheadOf(kept) + kept.response.length + kept.input.length;
