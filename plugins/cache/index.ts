import {
  definePlugin,
  leavesTime,
  type AttemptContext,
  type CachedReply,
  type CacheSettings,
  type CacheStatus,
  type Exchange,
  type ModelTask,
  type RequestBody,
} from '../../src/plugin/index.ts';
import { Flights, outOfTime, type Flight, type Landing } from './flights.ts';
import { keepReply, type Keeping } from './keep.ts';
import { cacheKey } from './key.ts';
import { readCacheOptions } from './client-options.ts';

/** Gives a kept reply again to the same request, and asks once for what several ask at the same time. */
export default definePlugin({
  name: 'cache',
  level: 'attempt',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['targets', 'cache', 'turns'],
  requires: ['override'],
  provides: ['cache'],
  explain({ attempt: { cache, target } }) {
    if (!cache || !target.cache) return undefined;
    const { maxAgeMs, scope } = target.cache;
    return { does: WORDS[cache](maxAgeMs / 1000, scope), details: { status: cache, maxAgeMs, scope } };
  },
  create({ host }) {
    const { clock, targets, turns } = host;
    const flights = new Flights(clock);
    const lookUp = async (ctx: AttemptContext, next: () => Promise<void>, settings: CacheSettings): Promise<void> => {
      const { attempt, exchange } = ctx;
      const { refresh, namespace } = readCacheOptions(exchange.request);
      if (!isCacheable(exchange, attempt.body)) {
        attempt.cache = 'bypass';
        return next();
      }
      // Before any look-up: who may not use the entry or the model gets its 403, whoever else has asked before.
      const findKey = (): string => {
        const resolved = targets.resolve(exchange, attempt.target, attempt.body.string('model') ?? '', false);
        attempt.resolved = resolved;
        return cacheKey({ exchange, attempt, resolved, settings, namespace, spoken: host.cache.spoken(exchange) });
      };
      const key = turns.isHeavy(attempt.body.original.length) ? await turns.run(exchange, findKey, attempt) : findKey();
      const job: Job = { ctx, next, attempt, key, settings, cache: host.cache, clock };
      if (refresh) {
        attempt.cache = 'refresh';
        await ask(job);
        return;
      }
      const kept = host.cache.find(key);
      // Kept under another config's `max_age`, perhaps: the nearer one holds.
      if (kept && clock.now() - kept.storedAt < settings.maxAgeMs && answer(job, kept, 'hit')) return;
      attempt.cache = 'miss';
      await (attempt.body.value('stream') === true ? ask(job) : askTogether(job, flights));
    };
    return function cache(ctx, next) {
      const settings = ctx.attempt.target.cache;
      return settings ? lookUp(ctx, next, settings) : next();
    };
  },
});

const WORDS: Readonly<Record<CacheStatus, (seconds: number, scope: string) => string>> = {
  hit: () => 'answers with a kept reply',
  shared: () => "answers with another request's answer",
  miss: (seconds, scope) => `asks for a reply of its ${scope}, up to ${seconds} s old`,
  refresh: (seconds) => `asks upstream, and keeps the answer for ${seconds} s`,
  bypass: () => 'left aside: the request asks for more than an answer',
};

interface Job extends Keeping {
  readonly ctx: AttemptContext;
  readonly next: () => Promise<void>;
}

/**
 * Operations that only ask something. What makes something at the upstream (a batch, a file, a stored completion) is done
 * again for everyone who asks for it.
 */
const QUESTIONS: ReadonlySet<ModelTask | undefined> = new Set<ModelTask>(['generate', 'embeddings']);

const isCacheable = ({ operation }: Exchange, body: RequestBody): boolean =>
  QUESTIONS.has(operation?.task) && body.value('store') !== true;

async function ask(job: Job): Promise<CachedReply | undefined> {
  try {
    await job.next();
  } catch (error) {
    // Refused before anybody was asked: neither found nor missed.
    if (job.attempt.tries.length === 0) job.attempt.cache = undefined;
    throw error;
  }
  return keepReply(job);
}

/** One of several same plain requests asks, the others wait for its answer. Streams do not wait: their first word is what counts. */
async function askTogether(job: Job, flights: Flights): Promise<void> {
  const { attempt } = job;
  // Who would give up at another time does not wait for the other's limits.
  const key = `${job.key} ${Object.values(attempt.timeouts).join(' ')}`;
  const flight = flights.find(key);
  if (!flight) return lead(job, flights.begin(key));
  const landing = await follow(job, flight);
  if (isNoReply(landing) && !hasTimeToAsk(job)) {
    // Another waiting request may have more time: let it lead.
    if (landing === 'lead') flight.end('lead');
    throw outOfTime(attempt);
  }
  if (landing === 'lead') return lead(job, flight);
  if (landing === 'alone' || !answer(job, landing, 'shared')) await ask(job);
}

const isNoReply = (landing: Landing): boolean => landing === 'lead' || landing === 'alone';

/** What it has waited counts like any wait: a try that begins just before its deadline asks in vain. */
function hasTimeToAsk({ attempt, clock }: Job): boolean {
  const waitedMs = clock.now() - (attempt.wait?.from ?? clock.now());
  return leavesTime(waitedMs, waitedMs + attempt.deadline - clock.now());
}

async function follow({ attempt, clock }: Job, flight: Flight): Promise<Landing> {
  const wait: NonNullable<typeof attempt.wait> = { from: clock.now(), to: undefined };
  attempt.wait = wait;
  try {
    return await flight.wait(attempt);
  } finally {
    wait.to = clock.now();
  }
}

async function lead(job: Job, flight: Flight): Promise<void> {
  try {
    flight.end((await ask(job)) ?? 'alone');
  } catch (error) {
    // Its client left, or another attempt was quicker: no fault of the upstream, so one of the others asks in its place.
    flight.end(job.attempt.cancellation.reason ? 'lead' : 'alone');
    throw error;
  }
}

/** Puts the kept reply in place of an upstream's. False where it cannot be told in the form that is asked for. */
function answer({ ctx, cache, clock }: Job, kept: CachedReply, status: 'hit' | 'shared'): boolean {
  const { attempt, exchange } = ctx;
  const reply = cache.render(kept, exchange, attempt);
  if (!reply) return false;
  // RFC 9111, section 5.1. A shared reply is as new as any.
  if (status === 'hit') reply.headers['age'] = String(Math.floor((clock.now() - kept.storedAt) / 1000));
  attempt.reply = reply;
  attempt.cache = status;
  attempt.losses.push(...kept.losses);
  return true;
}
