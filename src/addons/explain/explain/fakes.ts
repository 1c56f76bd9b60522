import { GatewayError, type Clock, type ErrorCode, type FailureKind, type Reply } from '../../../plugin/index.ts';
import type {
  Attempt,
  RequestBudgets,
  Caller,
  Capabilities,
  Exchange,
  Sender,
  CachedReply,
  KeptText,
  ReplyCache,
  SemanticCache,
} from '../../../core/kernel/index.ts';
import type { RateGates } from '../../../core/kernel/rate-gates.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import { createDrySender } from '../../../core/dry-run/calls.ts';
import { supposingKeys } from '../../../core/dry-run/fakes.ts';
import { decidedConfigs, type Decide } from './decided-conditions.ts';
import { EXAMPLE_FAILURES, exampleOfStatus, nearestFailure } from './example-failures.ts';
import type { AttemptNotes, ExplainedRun, SeenCache } from './observation.ts';
import { readOnlyHealth, readOnlyResponses, type FrozenResponses, type ReadHealth } from './frozen.ts';
import { cacheKey, describeKey, type CacheQuestion } from '../../../../plugins/cache/key.ts';
import { readCacheOptions } from '../../../../plugins/cache/index.ts';

interface FakesSetup {
  readonly clock: Clock;
  readonly server: ServerSettings;
  readonly runOf: (exchange: Exchange) => ExplainedRun;
  /** Callers of all running questions, by key: the key is looked up before the request is otherwise known. */
  readonly supposedCaller: (key: string) => Caller | undefined;
  readonly health: ReadHealth;
  /** The kept responses that the running question found; undefined: those of now. */
  readonly found: () => FrozenResponses | undefined;
  readonly knowsResponses: boolean;
  /** See `ExplainQuestion.limited`. */
  readonly limited: () => GatewayError | null | undefined;
  /** See `ExplainQuestion.decide`. */
  readonly decide: () => Decide | undefined;
}

/** The capabilities of plugins in explain: the real ones, but those that leave the process, count or store. */
export function fakeMissing(setup: FakesSetup): (granted: Partial<Capabilities>) => Partial<Capabilities> {
  return (granted) => ({
    ...granted,
    health: readOnlyHealth(setup.health),
    ...(granted.configs && { configs: decidedConfigs(granted.configs, setup.decide) }),
    ...(granted.keys && { keys: supposingKeys(granted.keys, setup.supposedCaller) }),
    ...(granted.gates && { gates: takeNothing(granted.gates, setup.limited) }),
    ...(granted.send && { send: sendNothing(setup, granted.gates) }),
    ...(granted.cache && { cache: keepNothing(granted.cache, setup) }),
    ...(granted.responses && {
      responses: readOnlyResponses(granted.responses, { ...setup, before: setup.found, known: setup.knowsResponses }),
    }),
    ...(granted.budgets && { budgets: countNothing(granted.budgets, setup) }),
    ...(granted.semantic && { semantic: compareStored(granted.semantic, setup) }),
  });
}

/** Encodes, authorizes and captures the request, and fails as `route` needs it to show the next target. */
function sendNothing({ clock, server, runOf }: FakesSetup, gates: RateGates | undefined): Sender {
  return {
    async send(exchange, attempt) {
      const run = runOf(exchange);
      const seen = run.notesOf(attempt);
      const known = run.failureOf(attempt);
      // A request that was served met the limits of its time.
      const limited = run.failures ? known : gates?.looking.enterTarget(exchange, attempt);
      if (limited instanceof GatewayError && limited.limit) throw limited;
      const supposed = known ?? supposeFailure(exchange, attempt, seen);
      seen.supposed = supposed;
      const sender = createDrySender({ clock, limits: server.limits, hold: () => true }, (call) => {
        run.calls.push(call);
        return Promise.reject(supposed);
      });
      try {
        return await sender.send(exchange, attempt);
      } catch (error) {
        if (error !== supposed) {
          if (!isUnknownCredential(error)) {
            seen.supposed = undefined;
            throw error;
          }
          run.notes.push(`${attempt.resolved?.slug ?? 'the provider'}: explain does not fetch its access token`);
        }
        if (run.answers && !known) return emptyReply(attempt);
        throw supposed;
      }
    },
  };
}

/** The reply of an upstream of which explain knows nothing: plugins add their headers to it. */
const emptyReply = ({ outbound }: Attempt): Reply => ({
  status: 200,
  headers: { 'content-type': outbound?.contentType ?? 'application/json' },
  body: Buffer.from('{}'),
  stream: false,
});

/** The limits of rates, of which nothing is taken. A request that was served met those of its time. */
function takeNothing(gates: RateGates, limited: FakesSetup['limited']): RateGates {
  const { looking } = gates;
  const then = (now: GatewayError | undefined, met: readonly ErrorCode[]): GatewayError | undefined => {
    const known = limited();
    if (known === undefined) return now;
    return known && met.includes(known.code) ? known : undefined;
  };
  return {
    fetch: undefined,
    enter: (exchange) => then(looking.enter(exchange), ['limit_requests', 'limit_concurrency']),
    takeTokens: (exchange) => then(looking.takeTokens(exchange), ['limit_tokens']),
    enterTarget: (exchange, attempt) => looking.enterTarget(exchange, attempt),
    looking,
  };
}
const OF_BUDGETS: ReadonlySet<ErrorCode> = new Set(['budget_exceeded', 'budget_unavailable']);

/** Budgets that admit what their caps allow, whatever is spent; a request that was refused is refused again. */
const countNothing = (budgets: RequestBudgets, { runOf }: FakesSetup): RequestBudgets => {
  const preview: RequestBudgets['preview'] = (exchange, attempt, rules) => {
    const met = runOf(exchange).failureOf(attempt);
    const isRefused = met !== undefined && OF_BUDGETS.has(met.code);
    try {
      budgets.preview(exchange, attempt, rules);
    } catch (error) {
      if (!isRefused) throw error;
    }
    if (isRefused) throw met;
  };
  return {
    preview,
    reserve(exchange, attempt, rules) {
      preview(exchange, attempt, rules);
      return undefined;
    },
  };
};

/** Credentials that only a catalog entry in use has: application default credentials, a metadata server. */
const isUnknownCredential = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'credentials_failed' || error.code === 'internal_error');

function supposeFailure(exchange: Exchange, { target }: Attempt, { nextAfter }: AttemptNotes): GatewayError {
  const failures = [
    ...nextAfter.kinds.flatMap((kind) => (kind === 'unsupported' ? [] : EXAMPLE_FAILURES.get(kind)!)),
    ...nextAfter.statusCodes.map(exampleOfStatus),
  ];
  return nearestFailure(failures, exchange, target) ?? EXAMPLE_FAILURES.get('server_error' satisfies FailureKind)!;
}

interface FakeCacheSetup {
  readonly clock: Pick<Clock, 'now'>;
  readonly runOf: (exchange: Exchange) => ExplainedRun;
}

/** Looks up replies and returns none, so that the upstream request is shown. Does not change the store. */
function keepNothing(cache: ReplyCache, { clock, runOf }: FakeCacheSetup): ReplyCache {
  // State of the current question; there is one at a time.
  let refused: CachedReply | undefined;
  return {
    ...cache,
    // Explain opens no connection.
    findFar: undefined,
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
        runOf(exchange).notesOf(question.attempt).cache = seenOf(question, rendering === 'rendered' ? kept : undefined);
      }
      return spoken;
    },
    peek(key) {
      const kept = cache.peek(key);
      return kept && kept.storedAt <= clock.now() ? kept : undefined;
    },
    // Returns only a reply whose rendering rejects the request, so that the rejection is shown.
    find: () => refused,
    store() {},
  };
}

/**
 * Stored texts without a call for vectors. The vector of the question is known only if its own text is stored, as that
 * of a request that was served is. Nothing changes the store, which may be the serving one.
 */
function compareStored(semantic: SemanticCache, { runOf }: Pick<FakesSetup, 'runOf'>): SemanticCache {
  // State of the current question; there is one at a time.
  let stored: readonly KeptText[] = [];
  return {
    ...semantic,
    texts(place) {
      stored = semantic.texts(place);
      return stored;
    },
    embed(request) {
      const { exchange, attempt, texts } = request;
      const own = stored.find(({ key }) => key === runOf(exchange).notesOf(attempt).cache?.key);
      const vector = own && semantic.vectorOf(own);
      if (!vector) return Promise.resolve({ vectors: undefined, call: undefined, error: semantic.problem(request) });
      return Promise.resolve({ vectors: texts.map(() => vector), call: undefined });
    },
    keepVector() {},
    add() {},
    use() {},
    remove() {},
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
): 'rendered' | 'none' | 'refused' {
  try {
    return cache.render(kept, exchange, attempt) ? 'rendered' : 'none';
  } catch (error) {
    if (error instanceof GatewayError) return 'refused';
    throw error;
  }
}
