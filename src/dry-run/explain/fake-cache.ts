import { cacheKey, describeKey, type CacheQuestion } from '../../../plugins/cache/key.ts';
import { readCacheOptions } from '../../../plugins/cache/client-options.ts';
import { GatewayError, type CachedReply, type Clock, type Exchange, type ReplyCache } from '../../plugin/index.ts';
import type { ExplainedRun } from './explained-run.ts';
import type { SeenCache } from './observation.ts';

interface FakeCacheSetup {
  readonly clock: Pick<Clock, 'now'>;
  readonly runOf: (exchange: Exchange) => ExplainedRun;
}

/**
 * A cache that looks up replies but never returns them, so that explain also shows the upstream request. The look-up
 * does not change the store, which may be the serving one.
 */
export function keepNothing(cache: ReplyCache, { clock, runOf }: FakeCacheSetup): ReplyCache {
  // State of the current question; there is one at a time.
  let refused: CachedReply | undefined;
  return {
    ...cache,
    // The cache plugin calls this when it builds the key, with the attempt's state at this time; a later plugin may
    // change the body.
    spoken(exchange) {
      const spoken = cache.spoken(exchange);
      const question = questionOf(exchange, spoken);
      refused = undefined;
      if (question) {
        const kept = young(cache, question, clock);
        const rendering = kept && renderingOf(cache, kept, question);
        if (rendering === 'refused') refused = kept;
        runOf(exchange).notesOf(question.attempt).cache = seenOf(question, rendering === 'told' ? kept : undefined);
      }
      return spoken;
    },
    // Returns only a reply whose rendering rejects the request, so that the rejection is shown.
    find: () => refused,
    store() {},
  };
}

function questionOf(exchange: Exchange, spoken: CacheQuestion['spoken']): CacheQuestion | undefined {
  const attempt = exchange.attempts.at(-1);
  const settings = attempt?.target.cache;
  if (!attempt?.resolved || !settings) return undefined;
  const { namespace } = readCacheOptions(exchange.request);
  return { exchange, attempt, resolved: attempt.resolved, settings, namespace, spoken };
}

/** The cached reply that existed when the request arrived; a reply that the request itself stored does not count. */
function young(cache: ReplyCache, question: CacheQuestion, clock: FakeCacheSetup['clock']): CachedReply | undefined {
  const kept = cache.peek(cacheKey(question));
  const ageMs = kept && clock.now() - kept.storedAt;
  return ageMs !== undefined && ageMs >= 0 && ageMs < question.settings.maxAgeMs ? kept : undefined;
}

const seenOf = (question: CacheQuestion, kept: CachedReply | undefined): SeenCache => ({
  key: cacheKey(question),
  parts: describeKey(question),
  refresh: readCacheOptions(question.exchange.request).refresh,
  kept,
});

function renderingOf(
  cache: ReplyCache,
  kept: CachedReply,
  { exchange, attempt }: CacheQuestion,
): 'told' | 'untold' | 'refused' {
  try {
    return cache.render(kept, exchange, attempt) ? 'told' : 'untold';
  } catch (error) {
    if (error instanceof GatewayError) return 'refused';
    throw error;
  }
}
