import type {
  ProviderExplanation,
  FieldSource,
  TargetExplanation,
  TimeExplanation,
  CacheExplanation,
} from '../../explanation/explanation.ts';
import { compileFields } from '../../../../core/catalog/fields/field-rules.ts';
import { firstByteOf, TIMEOUT_NAMES } from '../../../../core/kernel/timeouts.ts';
import { heldReply } from '../../../../core/kernel/reply.ts';
import type {
  CacheSettings,
  ResolvedTarget,
  TextFacts,
  Uncompared,
  Target,
  CachedReply,
  Attempt,
  Exchange,
  TryRecord,
} from '../../../../core/kernel/index.ts';
import type { ModelTask } from '../../../../plugin/index.ts';
import { FACTS, UNCOMPARED } from '../../../../../plugins/cache/near.ts';
import type { HealthThen } from '../frozen.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { describeChanges } from './changes.ts';
import { describeOutbound } from './outbound.ts';
import {
  catalogSource,
  configSource,
  DEFAULT,
  listedSlug,
  ownSource,
  placeOf,
  serverSource,
  targetPlace,
} from './places.ts';
import { targetName } from '../../../../core/dry-run/written-config.ts';
import { describeRetirement } from './retirement.ts';
import { wayTo } from '../way-to-target.ts';
import { replyInWords } from './plugins.ts';
import { describeError } from './request.ts';
import { FAKE_CREDENTIAL } from './masks.ts';
import { ModelLabels } from '../../../../core/catalog/model-labels.ts';
import { createSignals, type Signals } from '../../../../formats/events.ts';
import { metadataLabels } from '../../../../core/settings/compile/metadata-labels.ts';
import { TASKS } from '../../../../core/operations/tasks.ts';
import { recordOf } from '../../../../core/record/make-record.ts';
import { CallersAsLabels } from '../../../../core/record/metrics/caller-labels.ts';
import { countersOf } from '../../../../core/record/metrics/request-metrics.ts';

export function describeTarget(seen: Observation, one: SeenAttempt): TargetExplanation {
  const { attempt, recorded, resolved, body } = one;
  const { target } = attempt;
  return {
    number: recorded.number,
    target: recorded.target,
    name: targetName(seen, recorded.target),
    at: targetPlace(seen, recorded.target),
    why: recorded.why,
    shares: describeShares(seen, one),
    health: describeHealth(seen, one.health, target),
    nextAfter: one.nextAfter,
    provider: resolved && describeProvider(seen, resolved),
    retires: describeRetirement(seen, one),
    timeouts: describeTimeouts(seen, one),
    retry: describeRetry(seen, target),
    commit: recorded.commit,
    reply: replyInWords(seen, attempt),
    body: body.json(),
    changes: describeChanges(seen, one),
    outbound: describeOutbound(seen, one),
    losses: attempt.losses.map(({ param, action, reason }) => ({ param, action, reason })),
    defaulted: describeDefaulted(seen, one),
    cache: describeCache(seen, one),
    refused: one.supposed || !attempt.error ? undefined : describeError(attempt.error),
    metrics: describeMetrics(seen, one),
  };
}

const describeShares = (seen: Observation, { attempt, config }: SeenAttempt): TargetExplanation['shares'] =>
  wayTo(config.route, attempt.target).flatMap(({ around, member }) => {
    if (around.kind !== 'group' || around.mode !== 'loadbalance') return [];
    return {
      group: around.path,
      weight: around.weights[around.members.indexOf(member)] ?? 0,
      of: around.weights.reduce((sum, weight) => sum + weight, 0),
      at: placeOf(ownSource(seen, member.path, ['weight'])),
    };
  });

function describeHealth(
  { exchange }: Observation,
  health: HealthThen,
  { breaker }: Target,
): TargetExplanation['health'] {
  const { state, retryAt } = health;
  const retryInMs = state === 'open' ? Math.max(0, Math.round(retryAt - exchange.startedAt)) : undefined;
  return { state, retryInMs, enforced: breaker.enforced };
}

const describeProvider = (seen: Observation, resolved: ResolvedTarget): ProviderExplanation => {
  const { slug, provider, model, format } = resolved;
  const listed = listedSlug(resolved);
  return {
    slug,
    provider,
    model,
    format,
    fields: compileFields(seen.settings.catalog.providers.find((one) => one.slug === listed)?.fields),
    at: placeOf(catalogSource(seen, listed, [])),
  };
};

function describeTimeouts(
  seen: Observation,
  { attempt, resolved, outbound }: SeenAttempt,
): Readonly<Record<string, TimeExplanation>> {
  const { target, timeouts } = attempt;
  const sourceOf = (key: string): FieldSource => {
    const names = [['timeouts', key], ...(key === 'total' ? [['request_timeout']] : [])];
    return (
      configSource(seen, target.path, ...names) ??
      catalogSource(seen, listedSlug(resolved), ['timeouts', key]) ??
      serverSource(seen, ['timeouts', key]) ??
      DEFAULT
    );
  };
  return Object.fromEntries(
    TIMEOUT_NAMES.map(([name, key]) => {
      const ms = key === 'first_byte' ? firstByteOf(outbound?.stream ?? false, timeouts) : timeouts[name];
      return [key, { ms, source: sourceOf(key) }];
    }),
  );
}

function describeRetry(seen: Observation, { path, retry }: Target): TargetExplanation['retry'] {
  const source = configSource(seen, path, ['retry', 'attempts']) ?? configSource(seen, path, ['retry']);
  return { attempts: retry.attempts, onStatusCodes: [...retry.onStatusCodes], source: source ?? DEFAULT };
}

/** `max_tokens` is the only field with a default. */
function describeDefaulted(seen: Observation, { attempt, resolved }: SeenAttempt): TargetExplanation['defaulted'] {
  if (!attempt.defaulted) return [];
  const source =
    configSource(seen, attempt.target.path, ['default_max_tokens']) ??
    catalogSource(seen, listedSlug(resolved), ['default_max_tokens']) ??
    DEFAULT;
  return attempt.defaulted.map(({ param, value, reason }) => ({ param, value, reason, source }));
}

/** Undefined without a cache. */
function describeCache(seen: Observation, one: SeenAttempt): CacheExplanation | undefined {
  const { target } = one.attempt;
  if (!target.cache) return undefined;
  const exact =
    isKeyKnown(seen) && one.recorded.cache !== 'bypass' && one.cache?.refresh === false && one.cache.kept !== undefined;
  return {
    key: isKeyKnown(seen) ? (one.cache?.key ?? '') : '',
    parts: one.cache?.parts ?? {},
    maxAgeMs: target.cache.maxAgeMs,
    scope: target.cache.scope,
    source: configSource(seen, target.path, ['cache']) ?? DEFAULT,
    hit: exact || one.recorded.semantic?.result === 'hit',
    now: describeNow(seen, one),
    near: exact ? undefined : describeNear(one, target.cache),
  };
}

function describeNow(seen: Observation, { recorded, cache }: SeenAttempt): string {
  if (recorded.cache === 'bypass') return 'bypass: this request makes the upstream store or create something';
  if (!cache) return 'not looked up';
  if (cache.refresh) return 'refresh: the request forces a new reply';
  if (!isKeyKnown(seen)) return "unknown: the caller's own credential is part of the key, and is not stored";
  return cache.kept ? `hit: stored ${ageOf(seen, cache.kept)} s ago` : 'miss: no reply is stored under this key';
}

function describeNear({ recorded }: SeenAttempt, { semantic }: CacheSettings): string | undefined {
  if (!semantic) return undefined;
  const { result, reason, similarity } = recorded.semantic ?? {};
  if (result === undefined) return 'not compared';
  const { embeddings, threshold } = semantic;
  switch (result) {
    case 'unfit':
      return `not compared: ${UNCOMPARED[reason as Uncompared]}`;
    case 'first':
      return 'no hit: no other text is stored for this conversation, its parameters and its scope';
    case 'differs':
      return `no hit: the stored texts differ in ${FACTS[reason as keyof TextFacts]}`;
    case 'below_threshold':
      if (similarity === undefined) return 'no hit: no stored text has a vector yet';
      return `no hit: the similarity ${shown(similarity)} is below the threshold ${threshold}`;
    case 'hit':
      return `hit: the similarity ${shown(similarity)} reaches the threshold ${threshold}`;
    default:
      return reason === undefined
        ? `not known: a stored text may be near, and explain calls no upstream, so not ${embeddings} either`
        : `no hit: ${embeddings} gives no vectors (${reason})`;
  }
}

const shown = (similarity: number | undefined): string => (similarity ?? 0).toFixed(3);

/** False for a stored request with a caller's credential, which is not stored. */
const isKeyKnown = ({ exchange: { upstreamToken } }: Observation): boolean =>
  upstreamToken?.reveal() !== FAKE_CREDENTIAL;

const ageOf = ({ exchange: { startedAt } }: Observation, { storedAt }: CachedReply): number =>
  Math.floor((startedAt - storedAt) / 1000);

/** The counters that a successful reply of this target would increment, from the record of such a reply. */
function describeMetrics({ exchange, settings, prices }: Observation, one: SeenAttempt): TargetExplanation['metrics'] {
  const answered = one.supposed ? asAnswered(exchange, one) : one.attempt;
  if (!answered.reply || answered.error) return [];
  const { startedAt, request } = exchange;
  const supposed: Exchange = {
    ...exchange,
    // The body is released once an attempt has answered.
    request: { ...request, body: undefined },
    attempts: [answered],
    skipped: [],
    reply: answered.reply,
    error: undefined,
  };
  const callers = new CallersAsLabels();
  callers.apply(metadataLabels(settings.server, settings.keys));
  const end = { state: 'complete', status: answered.reply.status, bytes: 0, error: undefined } as const;
  return countersOf(recordOf(supposed, end, { endedAt: startedAt, receivedAt: 0 }, { prices }), {
    models: new ModelLabels(),
    callers,
  });
}

function asAnswered({ operation }: Exchange, { attempt, body, resolved, outbound, cache }: SeenAttempt): Attempt {
  const stream = outbound?.stream ?? false;
  const reply = heldReply({ status: 200, headers: {}, body: Buffer.alloc(0), stream });
  const answered: Attempt = { ...attempt, body, resolved, error: undefined, reply };
  // A cached reply has no tries, and has the losses of the time when it was created.
  if (cache?.kept && !cache.refresh)
    return { ...answered, cache: 'hit', tries: [], signals: undefined, losses: [...cache.kept.losses] };
  if (attempt.semantic?.result === 'hit')
    return { ...answered, cache: 'semantic_hit', tries: [], signals: undefined, losses: [] };
  // An answer of the gateway itself has no tries either.
  if (outbound?.answer) return answered;
  return { ...answered, tries: [goodTry(attempt)], signals: goodEnd(operation?.task) };
}

const goodTry = ({ startedAt }: Attempt): TryRecord => ({
  call: 0,
  startedAt,
  sentAt: startedAt,
  firstByteAt: startedAt,
  firstContentAt: startedAt,
  endedAt: startedAt,
  status: 200,
  error: undefined,
  resent: false,
  delivered: false,
  bytesIn: 0,
});

/** Only the upstream knows the token counts: one of each kind shows which series would count. */
const goodEnd = (task: ModelTask | undefined): Signals => ({
  ...createSignals(),
  ended: true,
  usage: task && TASKS[task].reportsUsage ? { input: 1, output: 1, total: 2 } : undefined,
});
