import {
  definePlugin,
  leavesTime,
  unwantedReply,
  type AttemptContext,
  type CachedReply,
  type CacheSettings,
  type Exchange,
  type Operation,
  type RequestBody,
  type ResolvedTarget,
  type InboundRequest,
} from '../../src/core/kernel/index.ts';
import { type CacheStatus, type ModelTask, GatewayError } from '../../src/plugin/index.ts';
import { Flights, outOfTime, type Flight, type FlightResult } from './flights.ts';
import { keepReply, type Keeping } from './keep.ts';
import { cacheKey } from './key.ts';
import { keepOnly, lookUpNear, type NearReply, type SemanticJob } from './near.ts';

/** Answers identical requests from the cache, and near ones if the config enables that. Sends only one of several identical concurrent requests upstream. */
export default definePlugin({
  name: 'cache',
  level: 'attempt',
  needs: ['targets', 'cache', 'semantic', 'turns'],
  idleFor: ({ cache }) => cache === undefined,
  requires: ['override'],
  provides: ['cache'],
  explain({ attempt: { cache, target } }) {
    if (!cache || !target.cache) return undefined;
    const { maxAgeMs, scope, semantic } = target.cache;
    const does = WORDS[cache](maxAgeMs / 1000, scope);
    const near = semantic && cache === 'miss' ? `, also for texts as near as ${semantic.threshold}` : '';
    return { does: does + near, details: { status: cache, maxAgeMs, scope, ...(semantic && { semantic }) } };
  },
  create({ host }) {
    const { cache, clock, semantic, targets, turns } = host;
    const flights = new Flights(clock);
    const lookUp = async (ctx: AttemptContext, next: () => Promise<void>, settings: CacheSettings): Promise<void> => {
      const { attempt, exchange } = ctx;
      const { refresh, namespace } = readCacheOptions(exchange.request);
      const bypass = (): Promise<void> => {
        attempt.cache = 'bypass';
        return next();
      };
      if (!isCacheable(exchange, attempt.body)) return bypass();
      // Before any look-up: a caller that may not use the entry or model gets its 403 even when the reply is cached.
      const findKey = (): Pick<CachedAttempt, 'key' | 'question'> | undefined => {
        const resolved = targets.resolve(exchange, attempt.target, attempt.body.string('model') ?? '', false);
        attempt.resolved = resolved;
        if (isStoredUpstream(exchange, attempt.body, resolved)) return undefined;
        const question = { exchange, attempt, resolved, settings, namespace, spoken: cache.spoken(exchange) };
        return { key: cacheKey(question), question };
      };
      const heavy = turns.isHeavy(attempt.body.original.length);
      const found = heavy ? await turns.run(exchange, findKey, attempt) : findKey();
      if (!found) return bypass();
      const job: CachedAttempt = { ...found, ctx, next, attempt, settings, cache, semantic, clock, heavy };
      const { key } = found;
      if (refresh) {
        attempt.cache = 'refresh';
        if (settings.semantic) job.near = keepOnly(job);
        await ask(job);
        return;
      }
      const kept = cache.find(key) ?? (cache.findFar && (await cache.findFar(key)));
      // The entry may have been stored under another config's `max_age`; this config's limit applies as well.
      if (kept && clock.now() - kept.storedAt < settings.maxAgeMs && answer(job, kept, 'hit')) return;
      // An identical request in flight gives the exact reply without a call for vectors.
      const near =
        settings.semantic && !flights.find(flightKey(job)) ? await lookUpNear(job, settings.semantic) : undefined;
      if (near?.reply && answer(job, near.reply, 'semantic_hit')) return;
      job.near = near;
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
  hit: () => 'answers from the cache',
  semantic_hit: () => 'answers with the cached reply to a near text',
  shared: () => 'answers with the reply to an identical request in flight',
  miss: (seconds, scope) => `looks for a cached reply of its ${scope}, at most ${seconds} s old`,
  refresh: (seconds) => `asks the upstream and caches the reply for ${seconds} s`,
  bypass: () => 'bypassed: the request makes the upstream store or create something',
};

interface CachedAttempt extends Keeping, SemanticJob {
  readonly ctx: AttemptContext;
  readonly next: () => Promise<void>;
  near?: NearReply | undefined;
}

/** Tasks without side effects at the upstream: what creates something there must run for every caller. */
const CACHEABLE_TASKS: ReadonlySet<ModelTask | undefined> = new Set<ModelTask>([
  'generate',
  'embeddings',
  'completions',
  'moderations',
]);

const isCacheable = ({ operation }: Exchange, body: RequestBody): boolean =>
  CACHEABLE_TASKS.has(operation?.task) && body.value('store') !== true && !(isResponse(operation) && creates(body));

const isResponse = (operation: Operation | undefined): boolean => operation?.id === 'responses';

/** A run in the background, or new items of a conversation. */
const creates = (body: RequestBody): boolean =>
  body.value('background') === true || (body.has('conversation') && body.value('conversation') !== null);

/**
 * An upstream with the Responses API stores each response unless `store` is false, and later requests name it by its
 * id. Where the gateway keeps the response itself, a cached reply has an id of its own that the gateway knows.
 */
const isStoredUpstream = (
  { operation, kept }: Exchange,
  body: RequestBody,
  { format }: Pick<ResolvedTarget, 'format'>,
): boolean =>
  isResponse(operation) && format === operation?.format.name && body.value('store') !== false && !kept?.keeps;

async function ask(job: CachedAttempt): Promise<CachedReply | undefined> {
  try {
    await job.next();
  } catch (error) {
    // Rejected before anything was sent: neither a hit nor a miss.
    if (job.attempt.tries.length === 0) job.attempt.cache = undefined;
    throw error;
  }
  return keepReply(job, (kept) => job.near?.keep(kept));
}

/** Requests with different timeouts do not share a flight. */
const flightKey = ({ key, attempt }: CachedAttempt): string => `${key} ${Object.values(attempt.timeouts).join(' ')}`;

/** Streams do not wait for each other, because their time to first content matters. */
async function askTogether(job: CachedAttempt, flights: Flights): Promise<void> {
  const { attempt } = job;
  const key = flightKey(job);
  const flight = flights.find(key);
  if (!flight) return lead(job, flights.begin(key));
  const result = await follow(job, flight);
  if (typeof result === 'string' && !hasTimeToAsk(job)) {
    // Another waiting request may have more time: let it lead.
    if (result === 'lead') flight.end('lead');
    throw outOfTime(attempt);
  }
  if (result === 'lead') return lead(job, flight);
  if (result === 'alone' || !answer(job, result, 'shared')) await ask(job);
}

/** A try that begins just before its deadline is useless. */
function hasTimeToAsk({ attempt, clock }: CachedAttempt): boolean {
  const waitedMs = clock.now() - (attempt.wait?.from ?? clock.now());
  return leavesTime(waitedMs, waitedMs + attempt.deadline - clock.now());
}

async function follow({ attempt, clock }: CachedAttempt, flight: Flight): Promise<FlightResult> {
  const wait: NonNullable<typeof attempt.wait> = { from: clock.now(), to: undefined };
  attempt.wait = wait;
  try {
    return await flight.wait(attempt);
  } finally {
    wait.to = clock.now();
  }
}

async function lead(job: CachedAttempt, flight: Flight): Promise<void> {
  try {
    flight.end((await ask(job)) ?? 'alone');
  } catch (error) {
    // The leader was cancelled, which is no fault of the upstream: a follower sends the request instead.
    flight.end(job.attempt.cancellation.reason ? 'lead' : 'alone');
    throw error;
  }
}

/** False when the reply cannot be rendered in the requested form, or would be a failure by this config. */
function answer(
  { ctx, cache, clock }: CachedAttempt,
  kept: CachedReply,
  status: 'hit' | 'semantic_hit' | 'shared',
): boolean {
  const { attempt, exchange } = ctx;
  if (unwantedReply(attempt.target.unwanted, kept.ending)) return false;
  const reply = cache.render(kept, exchange, attempt);
  if (!reply) return false;
  // RFC 9111, section 5.1. A shared reply is fresh and needs no `age`.
  if (status !== 'shared') reply.headers['age'] = String(Math.floor((clock.now() - kept.storedAt) / 1000));
  attempt.reply = reply;
  attempt.cache = status;
  attempt.losses.push(...kept.losses);
  attempt.defaulted = kept.defaulted;
  return true;
}

interface CacheOptions {
  readonly refresh: boolean;
  readonly namespace: string | undefined;
}

/** Visible ASCII (RFC 9110, section 5.5, without spaces and obs-text). */
const NAMESPACE = /^[\x21-\x7e]{1,128}$/;

/** Throws GatewayError `invalid_header`: ignoring an invalid option could answer from the wrong cache entry. */
export function readCacheOptions(request: InboundRequest): CacheOptions {
  const refresh = request.header('cache-force-refresh');
  if (refresh !== undefined && refresh !== 'true' && refresh !== 'false')
    throw invalid(request, 'cache-force-refresh', 'must be "true" or "false"');
  const namespace = request.header('cache-namespace');
  if (namespace !== undefined && !NAMESPACE.test(namespace))
    throw invalid(request, 'cache-namespace', 'must be 1 to 128 visible ASCII characters');
  return { refresh: refresh === 'true', namespace };
}

const invalid = (request: InboundRequest, name: string, rule: string): GatewayError =>
  new GatewayError('invalid_header', `${request.headerName(name)} ${rule}.`);
