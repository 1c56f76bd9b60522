import { LRUCache } from 'lru-cache';
import type { Clock } from '../../plugin/index.ts';
import { isObject } from '../kernel/index.ts';
import type { PluginCacheOptions, PluginCache, PluginCounters } from '../../plugin/services.ts';
import type { StateText, StateTexts } from './plugin-state.ts';

const MAX_ENTRIES = 10_000;
const MAX_CACHES = 16;
/** Values of `host.state` in memory. */
const MAX_TEXTS = 1_000;
const UNBOUND = { maxBytes: Infinity, ttl: Infinity };
/** Bytes of an entry besides its key and value. */
const ENTRY_BYTES = 100;

/** The stores of plugins by their name in the settings. They live as long as a snapshot has a plugin of the name. */
export type StoresByPlugin = Map<string, NamedStores>;

interface NamedStores {
  /** Hosts of plugins of this name. */
  users: number;
  /** Undefined: none of them has used any. */
  stores: PluginStores | undefined;
}

export function enterStores(all: StoresByPlugin, plugin: string): void {
  const named = all.get(plugin) ?? { users: 0, stores: undefined };
  named.users += 1;
  all.set(plugin, named);
}

export function leaveStores(all: StoresByPlugin, plugin: string): void {
  const named = all.get(plugin);
  if (named && (named.users -= 1) === 0) all.delete(plugin);
}

/** The caches, counters and values in memory of the plugins of one name. */
export class PluginStores {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #caches = new Map<string, StoredCache>();
  readonly counters: PluginCounters;
  readonly texts: StateTexts;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.counters = countersIn(this.#cacheOf({ ...UNBOUND, maxEntries: MAX_ENTRIES }), clock);
    this.texts = textsIn(this.#cacheOf({ ...UNBOUND, maxEntries: MAX_TEXTS }));
  }

  /** Those of a plugin whose host has entered. One that has left gets its own. */
  static of(all: StoresByPlugin, plugin: string, clock: Pick<Clock, 'now'>): PluginStores {
    const named = all.get(plugin) ?? { users: 0, stores: undefined };
    return (named.stores ??= new PluginStores(clock));
  }

  cache<V>(options: PluginCacheOptions): PluginCache<V> {
    const { name = '', maxBytes, ttl, maxEntries = MAX_ENTRIES } = options;
    if (!(maxBytes > 0) || !(ttl > 0) || !(maxEntries > 0))
      throw new TypeError('`maxBytes`, `ttl` and `maxEntries` of a cache are above 0');
    const known = this.#caches.get(name);
    const cache = known ?? new StoredCache(this.#clock);
    if (!known && this.#caches.size >= MAX_CACHES) throw new TypeError(`a plugin has at most ${MAX_CACHES} caches`);
    this.#caches.set(name, cache);
    cache.apply({ maxBytes, ttl, maxEntries });
    // The plugin says of which type the values are that it keeps.
    return cache as PluginCache<unknown> as PluginCache<V>;
  }

  #cacheOf<V>(bounds: Bounds): PluginCache<V> {
    // One kind of values is written into it.
    return new StoredCache(this.#clock).apply(bounds) as PluginCache<unknown> as PluginCache<V>;
  }
}

interface Entry {
  readonly value: unknown;
  readonly expiresAt: number;
}

type Bounds = Required<Pick<PluginCacheOptions, 'maxBytes' | 'ttl' | 'maxEntries'>>;

/** The expiry is not that of lru-cache, which treats a start at 0 as none. Its `max` would take the memory of all entries at once. */
class StoredCache implements PluginCache<unknown> {
  readonly #clock: Pick<Clock, 'now'>;
  #entries = new LRUCache<string, Entry>({ maxSize: 1 });
  #bounds: Bounds = { maxBytes: 1, ttl: 1, maxEntries: 1 };

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  apply(bounds: Bounds): this {
    const kept = this.#entries.dump();
    this.#bounds = bounds;
    this.#entries = new LRUCache({ maxSize: Math.min(Math.ceil(bounds.maxBytes), Number.MAX_SAFE_INTEGER) });
    this.#entries.load(kept);
    this.#shrink();
    return this;
  }

  get(key: string): unknown {
    const entry = this.#entries.get(key);
    if (entry && entry.expiresAt > this.#clock.now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: unknown, ttl = this.#bounds.ttl): boolean {
    this.#entries.delete(key);
    if (!(ttl > 0)) return false;
    const size = 2 * key.length + bytesOf(value) + ENTRY_BYTES;
    this.#entries.set(key, { value, expiresAt: this.#clock.now() + ttl }, { size });
    this.#shrink();
    return this.#entries.has(key);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  #shrink(): void {
    while (this.#entries.size > this.#bounds.maxEntries) this.#entries.pop();
  }
}

const memberBytes = (value: unknown): number =>
  ArrayBuffer.isView(value)
    ? value.byteLength
    : 2 * (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).length;

/** A Buffer of an object counts as it is: JSON would write each byte as a number. */
const bytesOf = (value: unknown): number =>
  isObject(value) && !ArrayBuffer.isView(value)
    ? Object.entries(value).reduce((sum, [key, member]) => sum + 2 * key.length + memberBytes(member), 0)
    : memberBytes(value);

interface Count {
  readonly value: number;
  readonly endsAt: number;
}

const countersIn = (counts: PluginCache<Count>, clock: Pick<Clock, 'now'>): PluginCounters => ({
  add(name, amount = 1, windowMs = Infinity) {
    if (!Number.isFinite(amount)) throw new TypeError(`a counter cannot count ${amount}`);
    const { value, endsAt } = counts.get(name) ?? { value: 0, endsAt: clock.now() + windowMs };
    counts.set(name, { value: value + amount, endsAt }, endsAt - clock.now());
    return value + amount;
  },
  get: (name) => counts.get(name)?.value ?? 0,
  reset: (name) => counts.delete(name),
});

/** Values of `host.state` where the settings have no state store: the least recently used leaves first. */
const textsIn = (texts: PluginCache<StateText>): StateTexts => ({
  take: async ({ name, text = '', ms }) => texts.set(name, { text }, ms),
  find: async (name) => texts.get(name),
  end: async (name) => texts.delete(name),
});
