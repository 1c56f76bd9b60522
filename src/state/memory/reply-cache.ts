import { LRUCache } from 'lru-cache';
import type { CachedReply, Clock } from '../../plugin/index.ts';

export interface ReplyStoreLimits {
  readonly maxBytes: number;
  readonly maxEntryBytes: number;
}

export interface ReplyStoreSize {
  readonly entries: number;
  readonly bytes: number;
}

export interface ReplyStoreSetup {
  readonly clock: Clock;
  readonly limits: ReplyStoreLimits;
  /** What is kept is more, or less, than before. */
  readonly onChange?: (size: ReplyStoreSize) => void;
  /** A reply that could still be given again had to make room. */
  readonly onEvict?: () => void;
}

interface Entry {
  readonly reply: CachedReply;
  readonly expiresAt: number;
}

/** What an entry costs besides its texts: 600 bytes of heap (measured), and what the allocator adds to a buffer of its own. */
const ENTRY_OVERHEAD = 1024;

/**
 * Replies in memory, bounded in bytes: when they are full, the one that was asked for longest ago goes first. One per process,
 * and it outlives the settings that filled it.
 *
 * An entry's end is kept here and not as lru-cache's `ttl`, which takes a start at 0 for none and sets a timer per look-up
 * unless told otherwise. What has expired goes when it is asked for or when it is the oldest.
 */
export class ReplyStore {
  readonly #clock: Clock;
  readonly #limits: ReplyStoreLimits;
  readonly #onChange: (size: ReplyStoreSize) => void;
  readonly #entries: LRUCache<string, Entry>;

  constructor({ clock, limits, onChange = () => {}, onEvict = () => {} }: ReplyStoreSetup) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onChange = onChange;
    this.#entries = new LRUCache({
      // It wants a bound above 0; into one byte nothing fits either.
      maxSize: Math.max(1, limits.maxBytes),
      dispose: ({ expiresAt }, _, reason) => {
        if (reason === 'evict' && expiresAt > clock.now()) onEvict();
      },
    });
  }

  get maxEntryBytes(): number {
    return this.#limits.maxEntryBytes;
  }

  get limits(): ReplyStoreLimits {
    return this.#limits;
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

  /** The same, without a trace: what is only looked at stays as near to its end as it was. */
  peek(key: string): CachedReply | undefined {
    const entry = this.#entries.peek(key);
    return entry && entry.expiresAt > this.#clock.now() ? entry.reply : undefined;
  }

  store(key: string, reply: CachedReply, maxAgeMs: number): void {
    if (reply.bytes.length > this.#limits.maxEntryBytes) return;
    const entry = { reply: { ...reply, bytes: ownCopy(reply.bytes) }, expiresAt: reply.storedAt + maxAgeMs };
    this.#entries.set(key, entry, { size: sizeOf(key, reply) });
    this.#onChange(this.size);
  }
}

function sizeOf(key: string, { bytes, contentType, losses }: CachedReply): number {
  const texts = losses.reduce((sum, { param, reason }) => sum + param.length + reason.length + 64, 0);
  return ENTRY_OVERHEAD + bytes.length + key.length + contentType.length + texts;
}

/** A small Buffer is a slice of a pool, or of a whole network read: kept as it is, it would keep all of that. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
