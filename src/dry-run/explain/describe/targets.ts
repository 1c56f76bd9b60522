import type { ProviderTold, FieldSource, TargetTold, TimeTold } from '../../explanation/explanation.ts';
import { compileFields } from '../../../catalog/fields/field-settings.ts';
import { TIMEOUT_NAMES, type ResolvedTarget, type Target } from '../../../plugin/index.ts';
import type { HealthThen } from '../frozen-health.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { tellError } from './answer.ts';
import { tellCache } from './cache.ts';
import { tellChanges } from './changes.ts';
import { tellMetrics } from './metrics.ts';
import { tellOutbound } from './outbound.ts';
import {
  catalogSource,
  configSource,
  DEFAULT,
  listedSlug,
  ownSource,
  placeOf,
  serverSource,
  targetName,
  targetPlace,
} from './places.ts';
import { wayTo } from '../way-to-target.ts';

export function tellTarget(seen: Observation, one: SeenAttempt, number: number): TargetTold {
  const { attempt, resolved, body } = one;
  const { target } = attempt;
  return {
    number,
    target: target.path,
    name: targetName(seen, target.path),
    at: targetPlace(seen, target.path),
    why: attempt.choice.reason,
    shares: tellShares(seen, one),
    health: tellHealth(seen, one.health, target),
    nextAfter: one.nextAfter,
    provider: resolved && tellProvider(seen, resolved),
    timeouts: tellTimeouts(seen, one),
    retry: tellRetry(seen, target),
    commit: target.commit,
    body: body.json(),
    changes: tellChanges(seen, one),
    outbound: tellOutbound(seen, one),
    losses: attempt.losses.map(({ param, action, reason }) => ({ param, action, reason })),
    cache: tellCache(seen, one),
    refused: one.supposed || !attempt.error ? undefined : tellError(attempt.error),
    metrics: tellMetrics(seen, one),
  };
}

function tellShares(seen: Observation, { attempt, config }: SeenAttempt): TargetTold['shares'] {
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

function tellHealth({ exchange }: Observation, health: HealthThen, { breaker }: Target): TargetTold['health'] {
  const { state, retryAt } = health;
  const retryInMs = state === 'open' ? Math.max(0, Math.round(retryAt - exchange.startedAt)) : undefined;
  return { state, retryInMs, enforced: breaker.enforced };
}

const tellProvider = (seen: Observation, resolved: ResolvedTarget): ProviderTold => {
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

function tellTimeouts(seen: Observation, { attempt, resolved }: SeenAttempt): Readonly<Record<string, TimeTold>> {
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

function tellRetry(seen: Observation, { path, retry }: Target): TargetTold['retry'] {
  const source = configSource(seen, path, ['retry', 'attempts']) ?? configSource(seen, path, ['retry']);
  return { attempts: retry.attempts, onStatusCodes: [...retry.onStatusCodes], source: source ?? DEFAULT };
}
