import type { Attempt, TryRecord } from '../../../core/kernel/index.ts';
import { believedUsage } from '../../../core/record/believed-usage.ts';
import { cachedOfAll, totalOfAll } from '../prices/cost.ts';

/** Replies that cost no tokens: nothing was sent. */
const FROM_CACHE: ReadonlySet<Attempt['cache']> = new Set(['hit', 'semantic_hit', 'shared']);

/** The try whose tokens count; undefined where nothing was sent. */
function sentTry({ cache, tries }: Attempt): TryRecord | undefined {
  const last = tries.at(-1);
  return FROM_CACHE.has(cache) || last?.sentAt === undefined ? undefined : last;
}

/**
 * The tokens of an attempt that has ended. Without a report of the upstream, or with one that cannot be true, the estimate counts for what
 * may have been read.
 *
 * @param bytes of the request
 */
export function usedTokens(attempt: Attempt, estimate: number, bytes: number): number {
  const last = sentTry(attempt);
  if (!last) return 0;
  const { signals } = attempt;
  const usage = believedUsage(attempt, signals, bytes);
  if (!usage) return last.status !== undefined && last.status >= 400 ? 0 : estimate;
  // A stream that was cut reports only what it had counted so far.
  return signals?.ended ? totalOfAll(usage) : Math.max(totalOfAll(usage), estimate);
}

/** The tokens of `usedTokens` that the provider read from its cache. */
export function cachedTokens(attempt: Attempt, bytes: number): number {
  const usage = sentTry(attempt) && believedUsage(attempt, attempt.signals, bytes);
  return usage ? cachedOfAll(usage) : 0;
}
