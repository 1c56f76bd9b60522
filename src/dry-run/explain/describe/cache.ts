import type { CacheExplanation } from '../../explanation/explanation.ts';
import type { CachedReply } from '../../../plugin/index.ts';
import { FAKE_CREDENTIAL } from '../credentials.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { configSource, DEFAULT } from './places.ts';

/** Undefined where the target has no cache. */
export function describeCache(seen: Observation, one: SeenAttempt): CacheExplanation | undefined {
  const { target } = one.attempt;
  if (!target.cache) return undefined;
  return {
    key: isKeyKnown(seen) ? (one.cache?.key ?? '') : '',
    parts: one.cache?.parts ?? {},
    maxAgeMs: target.cache.maxAgeMs,
    scope: target.cache.scope,
    source: configSource(seen, target.path, ['cache']) ?? DEFAULT,
    hit:
      isKeyKnown(seen) &&
      one.attempt.cache !== 'bypass' &&
      one.cache?.refresh === false &&
      one.cache.kept !== undefined,
    now: describeNow(seen, one),
  };
}

function describeNow(seen: Observation, { attempt, cache }: SeenAttempt): string {
  if (attempt.cache === 'bypass') return 'bypass: this request asks for more than an answer';
  if (!cache) return 'not asked';
  if (cache.refresh) return 'refresh: the request wants a new answer';
  if (!isKeyKnown(seen)) return "not known: the caller's own credential is part of the key, and is not kept";
  return cache.kept ? `hit: kept ${ageOf(seen, cache.kept)} s ago` : 'miss: nothing is kept under this key';
}

/** A request that was served is kept without its credentials. */
const isKeyKnown = ({ exchange: { upstreamToken } }: Observation): boolean =>
  upstreamToken?.reveal() !== FAKE_CREDENTIAL;

/** As the header `age` says it. */
const ageOf = ({ exchange: { startedAt } }: Observation, { storedAt }: CachedReply): number =>
  Math.floor((startedAt - storedAt) / 1000);
