import type { CacheExplanation } from '../../explanation/explanation.ts';
import type { CachedReply } from '../../../plugin/index.ts';
import { FAKE_CREDENTIAL } from '../credentials.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { configSource, DEFAULT } from './places.ts';

/** Undefined without a cache. */
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
      one.recorded.cache !== 'bypass' &&
      one.cache?.refresh === false &&
      one.cache.kept !== undefined,
    now: describeNow(seen, one),
  };
}

function describeNow(seen: Observation, { recorded, cache }: SeenAttempt): string {
  if (recorded.cache === 'bypass') return 'bypass: this request makes the upstream store or create something';
  if (!cache) return 'not looked up';
  if (cache.refresh) return 'refresh: the request forces a new reply';
  if (!isKeyKnown(seen)) return "unknown: the caller's own credential is part of the key, and is not stored";
  return cache.kept ? `hit: stored ${ageOf(seen, cache.kept)} s ago` : 'miss: no reply is stored under this key';
}

/** False for a stored request with a caller's credential, which is not stored. */
const isKeyKnown = ({ exchange: { upstreamToken } }: Observation): boolean =>
  upstreamToken?.reveal() !== FAKE_CREDENTIAL;

/** Age in seconds, as in the `age` header. */
const ageOf = ({ exchange: { startedAt } }: Observation, { storedAt }: CachedReply): number =>
  Math.floor((startedAt - storedAt) / 1000);
