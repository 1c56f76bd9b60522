import { cacheKey, describeKey, type CacheQuestion } from '../../../plugins/cache/key.ts';
import { readCacheOptions } from '../../../plugins/cache/client-options.ts';
import { GatewayError, type CachedReply, type Clock, type Exchange, type ReplyCache } from '../../plugin/index.ts';
import type { SeenCache } from './observation.ts';
import type { RunNotes } from './run-notes.ts';

interface FakeCacheSetup {
  readonly clock: Pick<Clock, 'now'>;
  readonly runOf: (exchange: Exchange) => RunNotes;
}

/**
 * Kept replies are looked for and never given: what would be asked upstream is to be told, too. The look leaves no trace in the
 * store, which may be the one that serves.
 */
export function keepNothing(cache: ReplyCache, { clock, runOf }: FakeCacheSetup): ReplyCache {
  // Of the question that is being answered: there is one at a time.
  let refused: CachedReply | undefined;
  return {
    ...cache,
    // The key is made of this, of the attempt as it is at this moment: a plugin behind it may go on with another body.
    spoken(exchange) {
      const spoken = cache.spoken(exchange);
      const question = questionOf(exchange, spoken);
      refused = undefined;
      if (question) {
        const kept = young(cache, question, clock);
        const rendering = kept && renderingOf(cache, kept, question);
        if (rendering === 'refused') refused = kept;
        runOf(exchange).seen(question.attempt).cache = seenOf(question, rendering === 'told' ? kept : undefined);
      }
      return spoken;
    },
    // But for one that the cache refuses the request at: it is to be seen to do so.
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

/** What is kept, and was there when the request came: what the request itself has left behind was not. */
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
