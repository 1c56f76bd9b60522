import type { CacheTold } from '../../../explain/explanation.ts';
import type { CachedReply } from '../../../plugin/index.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { configSource, DEFAULT } from './places.ts';

/** Undefined where the target has no cache. */
export function tellCache(seen: Observation, one: SeenAttempt): CacheTold | undefined {
  const { target } = one.attempt;
  if (!target.cache) return undefined;
  return {
    key: one.cache?.key ?? '',
    parts: one.cache?.parts ?? {},
    maxAgeMs: target.cache.maxAgeMs,
    scope: target.cache.scope,
    source: configSource(seen, target.path, ['cache']) ?? DEFAULT,
    now: tellNow(seen, one),
  };
}

function tellNow(seen: Observation, { attempt, cache }: SeenAttempt): string {
  if (attempt.cache === 'bypass') return 'bypass: this request asks for more than an answer';
  if (!cache) return 'not asked';
  if (cache.refresh) return 'refresh: the request wants a new answer';
  return cache.kept ? `hit: kept ${ageOf(seen, cache.kept)} s ago` : 'miss: nothing is kept under this key';
}

/** As the header `age` says it. */
const ageOf = ({ exchange: { startedAt } }: Observation, { storedAt }: CachedReply): number =>
  Math.floor((startedAt - storedAt) / 1000);
