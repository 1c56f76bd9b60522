import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import type { CachedReply } from '../kernel/index.ts';
import type { Clock } from '../../plugin/index.ts';
import type { FarReplies, ReplyStore, ReplyStoreLimits, ReplyStores, ReplyStoreSize } from './ports.ts';

interface ReplyStoreSetup {
  readonly clock: Clock;
  readonly limits: ReplyStoreLimits;
  readonly onChange?: (size: ReplyStoreSize) => void;
  readonly onEvict?: () => void;
  /** Default: none. */
  readonly far?: FarReplies | undefined;
}

/** The memory of an entry besides its texts: 600 bytes of heap (measured) and the allocator's overhead for its own buffer. */
const ENTRY_OVERHEAD = 1024;

/**
 * Replies in memory, bounded in bytes: the least recently used one is evicted. Outlives the settings that filled it.
 * The expiry is not lru-cache's `ttl`, which treats a start at 0 as none and sets a timer per lookup. An expired entry
 * is removed when it is requested or evicted.
 */
export class MemoryReplyStore implements ReplyStore {
  readonly #clock: Clock;
  readonly limits: ReplyStoreLimits;
  readonly #onChange: (size: ReplyStoreSize) => void;
  readonly #far: FarReplies | undefined;
  readonly #entries: LRUCache<string, { readonly reply: CachedReply; readonly expiresAt: number }>;
  readonly findFar: ReplyStore['findFar'];

  constructor({ clock, limits, onChange = () => {}, onEvict = () => {}, far }: ReplyStoreSetup) {
    this.#clock = clock;
    this.#far = far;
    this.findFar = far && ((key) => this.#findFar(far, key));
    this.limits = limits;
    this.#onChange = onChange;
    this.#entries = new LRUCache({
      // lru-cache requires a limit above 0; with one byte nothing fits either.
      maxSize: Math.max(1, limits.maxBytes),
      dispose: ({ expiresAt }, _, reason) => {
        if (reason === 'evict' && expiresAt > clock.now()) onEvict();
      },
    });
  }

  get size(): ReplyStoreSize {
    return { entries: this.#entries.size, bytes: this.#entries.calculatedSize };
  }

  find(key: string): CachedReply | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.expiresAt > this.#clock.now()) return entry.reply;
    this.#entries.delete(key);
    this.#onChange(this.size);
    return undefined;
  }

  peek(key: string): CachedReply | undefined {
    const entry = this.#entries.peek(key);
    return entry && entry.expiresAt > this.#clock.now() ? entry.reply : undefined;
  }

  store(key: string, reply: CachedReply, maxAgeMs: number): void {
    if (reply.bytes.length > this.limits.maxEntryBytes) return;
    this.#far?.store(key, reply, maxAgeMs);
    this.#keep(key, reply, maxAgeMs);
  }

  async #findFar(far: FarReplies, key: string): Promise<CachedReply | undefined> {
    const found = await far.find(key);
    if (found) this.#keep(key, found.reply, found.maxAgeMs);
    return found?.reply;
  }

  #keep(key: string, reply: CachedReply, maxAgeMs: number): void {
    if (reply.bytes.length > this.limits.maxEntryBytes) return;
    const entry = { reply: { ...reply, bytes: ownCopy(reply.bytes) }, expiresAt: reply.storedAt + maxAgeMs };
    this.#entries.set(key, entry, { size: sizeOf(key, reply) });
    this.#onChange(this.size);
  }
}

/** Keeps one store, whose size it reports. */
export class MemoryReplyStores implements ReplyStores {
  readonly #setup: Omit<ReplyStoreSetup, 'limits'>;
  #current: ReplyStore | undefined;

  constructor(setup: Omit<ReplyStoreSetup, 'limits'>) {
    this.#setup = setup;
  }

  prepare(limits: ReplyStoreLimits): ReplyStore {
    const current = this.#current;
    if (current && isDeepStrictEqual(current.limits, limits)) return current;
    const { onChange, ...setup } = this.#setup;
    const store = new MemoryReplyStore({
      ...setup,
      limits,
      // Requests with older settings may still write to the old store, whose size is no longer reported.
      onChange: (size) => {
        if (store === this.#current) onChange?.(size);
      },
    });
    return store;
  }

  use(store: ReplyStore): void {
    this.#current = store;
    this.#setup.onChange?.(store.size);
  }
}

function sizeOf(key: string, { bytes, contentType, losses }: CachedReply): number {
  const texts = losses.reduce((sum, { param, reason }) => sum + param.length + reason.length + 64, 0);
  return ENTRY_OVERHEAD + bytes.length + key.length + contentType.length + texts;
}

/** A copy in its own memory: a small Buffer is a slice of a pool or of a network read, all of which it would keep alive. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
