import type { Clock, Found, KeptResponse } from '../../plugin/index.ts';
import type { ResponseLimits, ResponseStore } from '../ports.ts';

interface Held {
  readonly owner: string;
  readonly kept: KeptResponse;
  readonly bytes: number;
  readonly expiresAt: number;
}

/** The responses of one key, the oldest first. */
interface Part {
  readonly responses: Map<string, Held>;
  /** Output items by their ids. */
  readonly items: Map<string, { readonly held: Held; readonly text: string }>;
  bytes: number;
}

/**
 * Responses in memory, by key. When it is full, the key that holds the most loses its oldest response: a key cannot evict those
 * of keys that hold less. One per process, in the primary where there are workers; it outlives the settings.
 */
export class MemoryResponses implements ResponseStore {
  readonly #clock: Clock;
  #limits: ResponseLimits = { maxBytes: 0, ttlMs: 0 };
  readonly #parts = new Map<string, Part>();
  /** In the order in which they were kept. */
  readonly #order = new Set<Held>();
  /** How many keys have an id, of a response or of an item. */
  readonly #holders = new Map<string, number>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#order.size, bytes: this.#bytes };
  }

  apply(limits: ResponseLimits): void {
    this.#limits = limits;
    this.#evict();
  }

  find(owner: string, id: string): Found<KeptResponse> {
    this.#expire();
    return this.#parts.get(owner)?.responses.get(id)?.kept ?? this.#foreign(id);
  }

  findItems(owner: string, ids: readonly string[]): ReadonlyMap<string, Found<string>> {
    this.#expire();
    const part = this.#parts.get(owner);
    return new Map(
      ids.map((id) => {
        return [id, part?.items.get(id)?.text ?? this.#foreign(id)];
      }),
    );
  }

  keep(owner: string, kept: KeptResponse): void {
    const bytes = sizeOf(kept);
    if (bytes > this.#limits.maxBytes) return;
    this.remove(owner, kept.id);
    const held: Held = { owner, kept, bytes, expiresAt: this.#clock.now() + this.#limits.ttlMs };
    const part = this.#partOf(owner);
    part.responses.set(kept.id, held);
    this.#count(kept.id, 1);
    for (const { id, text } of kept.output) {
      if (id === undefined) continue;
      if (!part.items.has(id)) this.#count(id, 1);
      part.items.set(id, { held, text });
    }
    part.bytes += bytes;
    this.#bytes += bytes;
    this.#order.add(held);
    this.#evict();
  }

  remove(owner: string, id: string): boolean {
    this.#expire();
    const held = this.#parts.get(owner)?.responses.get(id);
    if (held) this.#drop(held);
    return held !== undefined;
  }

  #foreign(id: string): 'foreign' | undefined {
    return this.#holders.has(id) ? 'foreign' : undefined;
  }

  #partOf(owner: string): Part {
    let part = this.#parts.get(owner);
    if (!part) this.#parts.set(owner, (part = { responses: new Map(), items: new Map(), bytes: 0 }));
    return part;
  }

  #evict(): void {
    this.#expire();
    while (this.#bytes > this.#limits.maxBytes) {
      const [oldest] = this.#largest().responses.values();
      this.#drop(oldest!);
    }
  }

  #largest(): Part {
    const [first, ...others] = this.#parts.values();
    return others.reduce((largest, part) => (part.bytes > largest.bytes ? part : largest), first!);
  }

  /** The oldest expire first, unless the settings have changed since. */
  #expire(): void {
    const now = this.#clock.now();
    for (const held of this.#order) {
      if (held.expiresAt > now) return;
      this.#drop(held);
    }
  }

  #drop(held: Held): void {
    const { owner, kept, bytes } = held;
    const part = this.#parts.get(owner);
    if (!part || !this.#order.delete(held)) return;
    part.responses.delete(kept.id);
    this.#count(kept.id, -1);
    for (const { id } of kept.output) {
      if (id === undefined || part.items.get(id)?.held !== held) continue;
      part.items.delete(id);
      this.#count(id, -1);
    }
    part.bytes -= bytes;
    this.#bytes -= bytes;
    if (part.responses.size === 0) this.#parts.delete(owner);
  }

  #count(id: string, change: number): void {
    const holders = (this.#holders.get(id) ?? 0) + change;
    if (holders > 0) this.#holders.set(id, holders);
    else this.#holders.delete(id);
  }
}

/** An upper estimate of the memory besides the texts: of a response and of an item, with their places in the tables. */
const RESPONSE_BYTES = 1024;
const ITEM_BYTES = 512;

/** As UTF-16, the most memory that V8 uses for texts. */
export function sizeOf({ head, input, output }: Pick<KeptResponse, 'head' | 'input' | 'output'>): number {
  const items = output.reduce((sum, { text }) => sum + ITEM_BYTES + 2 * text.length, 0);
  return RESPONSE_BYTES + 2 * (head.length + input.length) + items;
}
