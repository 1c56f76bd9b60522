import type { Clock } from '../../plugin/index.ts';
import { isObject } from '../kernel/index.ts';
import type { PluginCacheOptions, PluginCache, PluginCounters } from '../../plugin/services.ts';

const MAX_ENTRIES = 10_000;
const MAX_CACHES = 16;
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

/** The caches and counters of the plugins of one name. */
export class PluginStores {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #caches = new Map<string, StoredCache>();
  readonly counters: PluginCounters;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.counters = new StoredCounters(clock);
  }

  /** The stores of a plugin whose host has entered. A host that has left gets stores of its own. */
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
}

interface Entry {
  readonly value: unknown;
  readonly bytes: number;
  readonly expiresAt: number;
}

type Bounds = Required<Pick<PluginCacheOptions, 'maxBytes' | 'ttl' | 'maxEntries'>>;

class StoredCache implements PluginCache<unknown> {
  readonly #clock: Pick<Clock, 'now'>;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bounds: Bounds = { maxBytes: 0, ttl: 0, maxEntries: 0 };
  #bytes = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  apply(bounds: Bounds): void {
    this.#bounds = bounds;
    this.#shrink();
  }

  get(key: string): unknown {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#clock.now()) {
      this.#bytes -= entry.bytes;
      return undefined;
    }
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: unknown, ttl = this.#bounds.ttl): boolean {
    this.delete(key);
    const bytes = 2 * key.length + bytesOf(value) + ENTRY_BYTES;
    if (bytes > this.#bounds.maxBytes || !(ttl > 0)) return false;
    this.#entries.set(key, { value, bytes, expiresAt: this.#clock.now() + ttl });
    this.#bytes += bytes;
    this.#shrink();
    return true;
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  #shrink(): void {
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#bounds.maxBytes && this.#entries.size <= this.#bounds.maxEntries) return;
      this.delete(key);
    }
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
  value: number;
  readonly endsAt: number;
}

class StoredCounters implements PluginCounters {
  readonly #clock: Pick<Clock, 'now'>;
  /** The least recently used first. */
  readonly #counts = new Map<string, Count>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(name: string, amount = 1, windowMs = Infinity): number {
    if (!Number.isFinite(amount)) throw new TypeError(`a counter cannot count ${amount}`);
    const count = this.#current(name) ?? { value: 0, endsAt: this.#clock.now() + windowMs };
    count.value += amount;
    this.#counts.delete(name);
    this.#counts.set(name, count);
    if (this.#counts.size > MAX_ENTRIES) this.#counts.delete(this.#counts.keys().next().value!);
    return count.value;
  }

  get(name: string): number {
    return this.#current(name)?.value ?? 0;
  }

  reset(name: string): void {
    this.#counts.delete(name);
  }

  #current(name: string): Count | undefined {
    const count = this.#counts.get(name);
    return count && count.endsAt > this.#clock.now() ? count : undefined;
  }
}
