import {
  lossesOf,
  type Attempt,
  type CachedReply,
  type CacheSettings,
  type Clock,
  type ReplyCache,
} from '../../src/plugin/index.ts';
import { Tee } from './tee.ts';

export interface Keeping {
  readonly attempt: Attempt;
  readonly key: string;
  readonly settings: CacheSettings;
  readonly cache: ReplyCache;
  readonly clock: Clock;
}

/**
 * Keeps the attempt's reply under its key if it is a whole 2xx that an upstream has declared complete. One that is all there is
 * given back, for those who wait for it; one that still flows is kept when its end has left.
 */
export function keepReply(keeping: Keeping): CachedReply | undefined {
  const { attempt, cache } = keeping;
  const { reply } = attempt;
  if (!reply || reply.status < 200 || reply.status > 299) return undefined;
  const describe = describer(keeping);
  const { body } = reply;
  if (Buffer.isBuffer(body)) {
    const kept = body.length <= cache.maxEntryBytes ? describe(body) : undefined;
    if (kept) store(keeping, kept);
    return kept;
  }
  reply.body = new Tee(body, cache.maxEntryBytes, (bytes) => {
    const kept = describe(bytes);
    if (kept) store(keeping, kept);
  });
  return undefined;
}

function store({ cache, key, settings }: Keeping, kept: CachedReply): void {
  cache.store(key, kept, settings.maxAgeMs);
}

/** What is known of the reply now; its body, which is let go soon, is not asked again when the end has come. */
function describer({ attempt, clock }: Keeping): (bytes: Buffer) => CachedReply | undefined {
  const { status, headers, stream } = attempt.reply!;
  const includeUsage = wantsUsage(attempt.body.value('stream_options'));
  return (bytes) => {
    const { signals } = attempt;
    // A reply that no upstream made has no signals: whatever made it can make it again.
    if (!signals?.ended || signals.failure) return undefined;
    const contentType = headers['content-type'] ?? 'application/json';
    const { usage } = signals;
    return {
      status,
      bytes,
      stream,
      includeUsage,
      usage,
      contentType,
      losses: lossesOf(attempt),
      storedAt: clock.now(),
    };
  };
}

const wantsUsage = (options: unknown): boolean =>
  typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
