import type { Attempt } from '../plugin/index.ts';
import { totalOfAll } from '../prices/cost.ts';

/** Replies that cost no tokens: nothing was sent. */
const FROM_CACHE: ReadonlySet<Attempt['cache']> = new Set(['hit', 'semantic_hit', 'shared']);

/** The tokens of an attempt that has ended. Without a report of the upstream, the estimate counts for what may have been read. */
export function usedTokens({ cache, tries, signals }: Attempt, estimate: number): number {
  const last = tries.at(-1);
  if (FROM_CACHE.has(cache) || last?.sentAt === undefined) return 0;
  const reported = signals?.usage && totalOfAll(signals.usage);
  // A stream that was cut reports only what it had counted so far.
  if (reported !== undefined) return signals?.ended ? reported : Math.max(reported, estimate);
  return last.status !== undefined && last.status >= 400 ? 0 : estimate;
}
