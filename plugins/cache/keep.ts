import {
  lossesOf,
  unwantedReply,
  type Attempt,
  type CachedReply,
  type CacheSettings,
  type ReplyCache,
} from '../../src/core/kernel/index.ts';
import type { Clock } from '../../src/plugin/index.ts';
import { Tee } from './tee.ts';

export interface Keeping {
  readonly attempt: Attempt;
  readonly key: string;
  readonly settings: CacheSettings;
  readonly cache: ReplyCache;
  readonly clock: Clock;
}

/**
 * Stores the attempt's reply under its key if it is a complete 2xx reply that the upstream finished. Returns a buffered
 * reply, for the followers that wait for it; stores a streamed one when its end has been sent. Calls `onKept` with a
 * stored reply.
 */
export function keepReply(keeping: Keeping, onKept: (kept: CachedReply) => void): CachedReply | undefined {
  const { attempt, cache } = keeping;
  const { reply } = attempt;
  if (!reply || reply.status < 200 || reply.status > 299) return undefined;
  const describe = describer(keeping);
  const store = (kept: CachedReply): void => {
    cache.store(keeping.key, kept, keeping.settings.maxAgeMs);
    onKept(kept);
  };
  const { body } = reply;
  if (Buffer.isBuffer(body)) {
    const kept = body.length <= cache.maxEntryBytes ? describe(body) : undefined;
    if (kept) store(kept);
    return kept;
  }
  reply.body = new Tee(body, cache.maxEntryBytes, (bytes) => {
    const kept = describe(bytes);
    if (kept) store(kept);
  });
  return undefined;
}

/** Captures the facts of the reply now, because the request body is released before the reply ends. */
function describer({ attempt, clock }: Keeping): (bytes: Buffer) => CachedReply | undefined {
  const { status, headers, stream } = attempt.reply!;
  const includeUsage = wantsUsage(attempt.body.value('stream_options'));
  return (bytes) => {
    const { signals } = attempt;
    // A reply that a plugin made has no signals and is not stored: the plugin can make it again.
    if (!signals?.ended || signals.failure || unwantedReply(attempt.target.unwanted, signals)) return undefined;
    const contentType = headers['content-type'] ?? 'application/json';
    const { usage, ended, output, blocked, finish, nativeFinish } = signals;
    return {
      status,
      bytes,
      stream,
      includeUsage,
      usage,
      contentType,
      losses: lossesOf(attempt),
      ...(attempt.defaulted && { defaulted: attempt.defaulted }),
      ending: { ended, output, blocked, finish, nativeFinish },
      storedAt: clock.now(),
    };
  };
}

const wantsUsage = (options: unknown): boolean =>
  typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true;
