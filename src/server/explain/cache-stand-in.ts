import { cacheKey, tellParts, type Question } from '../../../plugins/cache/key.ts';
import { readWishes } from '../../../plugins/cache/wishes.ts';
import { GatewayError, type CachedReply, type Clock, type Exchange, type ReplyCache } from '../../plugin/index.ts';
import type { SeenCache } from './observation.ts';
import type { Run } from './stand-ins.ts';

interface Setup {
  readonly clock: Pick<Clock, 'now'>;
  readonly runOf: (exchange: Exchange) => Run;
}

/**
 * Kept replies are looked for and never given: what would be asked upstream is to be told, too. The look leaves no trace in the
 * store, which may be the one that serves.
 */
export const keepNothing = (cache: ReplyCache, { clock, runOf }: Setup): ReplyCache => ({
  ...cache,
  // The key is made of this, of the attempt as it is at this moment: a plugin behind it may go on with another body.
  spoken(exchange) {
    const spoken = cache.spoken(exchange);
    const question = questionOf(exchange, spoken);
    if (question) runOf(exchange).seen(question.attempt).cache = look(cache, question, clock);
    return spoken;
  },
  find: () => undefined,
  store() {},
});

function questionOf(exchange: Exchange, spoken: Question['spoken']): Question | undefined {
  const attempt = exchange.attempts.at(-1);
  const settings = attempt?.target.cache;
  if (!attempt?.resolved || !settings) return undefined;
  const { namespace } = readWishes(exchange.request);
  return { exchange, attempt, resolved: attempt.resolved, settings, namespace, spoken };
}

function look(cache: ReplyCache, question: Question, clock: Setup['clock']): SeenCache {
  const { exchange, settings } = question;
  const key = cacheKey(question);
  const kept = cache.peek(key);
  const ageMs = kept && clock.now() - kept.storedAt;
  // What a request has left behind was not there yet when that request came.
  const young = ageMs !== undefined && ageMs >= 0 && ageMs < settings.maxAgeMs;
  return {
    key,
    parts: tellParts(question),
    refresh: readWishes(exchange.request).refresh,
    kept: young && canTell(cache, kept, question) ? kept : undefined,
  };
}

function canTell(cache: ReplyCache, kept: CachedReply | undefined, { exchange, attempt }: Question): boolean {
  try {
    return kept !== undefined && cache.render(kept, exchange, attempt) !== undefined;
  } catch (error) {
    // Refused, as it will be again when the request is written for the upstream.
    if (error instanceof GatewayError) return false;
    throw error;
  }
}
