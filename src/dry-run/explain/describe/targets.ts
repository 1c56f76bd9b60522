import type {
  ProviderExplanation,
  FieldSource,
  TargetExplanation,
  TimeExplanation,
} from '../../explanation/explanation.ts';
import { compileFields } from '../../../catalog/fields/field-settings.ts';
import { TIMEOUT_NAMES, type ResolvedTarget, type Target } from '../../../plugin/index.ts';
import type { HealthThen } from '../frozen-health.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { describeError } from './answer.ts';
import { describeCache } from './cache.ts';
import { describeChanges } from './changes.ts';
import { describeMetrics } from './metrics.ts';
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
import { targetName } from '../../run/written-config.ts';
import { wayTo } from '../way-to-target.ts';

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
    timeouts: describeTimeouts(seen, one),
    retry: describeRetry(seen, target),
    commit: recorded.commit,
    body: body.json(),
    changes: describeChanges(seen, one),
    outbound: describeOutbound(seen, one),
    // The record has no reasons.
    losses: attempt.losses.map(({ param, action, reason }) => ({ param, action, reason })),
    cache: describeCache(seen, one),
    refused: one.supposed || !attempt.error ? undefined : describeError(attempt.error),
    metrics: describeMetrics(seen, one),
  };
}

function describeShares(seen: Observation, { attempt, config }: SeenAttempt): TargetExplanation['shares'] {
  return wayTo(config.route, attempt.target).flatMap(({ around, member }) => {
    if (around.kind !== 'group' || around.mode !== 'loadbalance') return [];
    return {
      group: around.path,
      weight: around.weights[around.members.indexOf(member)] ?? 0,
      of: around.weights.reduce((sum, weight) => sum + weight, 0),
      at: placeOf(ownSource(seen, member.path, ['weight'])),
    };
  });
}

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
  const entry = seen.settings.catalog.providers.find((one) => one.slug === listed);
  return {
    slug,
    provider,
    model,
    format,
    fields: compileFields(entry?.fields),
    at: placeOf(catalogSource(seen, listed, [])),
  };
};

function describeTimeouts(
  seen: Observation,
  { attempt, resolved }: SeenAttempt,
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
  return Object.fromEntries(TIMEOUT_NAMES.map(([name, key]) => [key, { ms: timeouts[name], source: sourceOf(key) }]));
}

function describeRetry(seen: Observation, { path, retry }: Target): TargetExplanation['retry'] {
  const source = configSource(seen, path, ['retry', 'attempts']) ?? configSource(seen, path, ['retry']);
  return { attempts: retry.attempts, onStatusCodes: [...retry.onStatusCodes], source: source ?? DEFAULT };
}
