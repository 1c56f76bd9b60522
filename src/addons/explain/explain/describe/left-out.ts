import type { LeftOutExplanation } from '../../explanation/explanation.ts';
import type { Conditional, Group, Route, Target } from '../../../../core/kernel/index.ts';
import { targetsOf } from '../../../../core/memory/ports.ts';
import type { Observation } from '../observation.ts';
import { targetName } from '../../../../core/dry-run/written-config.ts';
import { targetPlace } from './places.ts';
import { isInUse, wayTo } from '../way-to-target.ts';

/** Every target of the config that would not be tried, in the order of the config. */
export function describeLeftOut(seen: Observation): readonly LeftOutExplanation[] {
  const { config } = seen.exchange;
  if (!config) return [];
  const tried = new Set(seen.attempts.map(({ attempt }) => attempt.target));
  return targetsOf(config.route)
    .filter((target) => !tried.has(target))
    .map((target) => ({
      target: target.path,
      name: targetName(seen, target.path),
      at: targetPlace(seen, target.path),
      reason: reasonOf(seen, config.route, target),
    }));
}

function reasonOf(seen: Observation, route: Route, target: Target): string {
  const skipped = seen.record.skipped.find((each) => each.target === target.path);
  if (skipped) return skipped.reason;
  const way = wayTo(route, target);
  const closed = way.flatMap(({ around, member }) => closedBy(seen, around, member) ?? []);
  return closed[0] ?? endedBefore(seen, way.map(({ around }) => around).toReversed());
}

/** Why the config itself excludes a subtree, regardless of failures. */
function closedBy({ record }: Observation, around: Group | Conditional, member: Route): string | undefined {
  if (around.kind === 'conditional') {
    const chosen = record.conditions.findLast(({ at }) => at === around.path);
    return chosen && chosen.to !== member.path ? `${around.path} leads to ${chosen.to}` : undefined;
  }
  return isInUse(around, member) ? undefined : 'weight 0';
}

/** @param around the groups around a target, the innermost first */
function endedBefore(seen: Observation, around: readonly Route[]): string {
  for (const group of around) {
    const last = seen.attempts.findLast(({ attempt }) => isInside(attempt.target.path, group.path));
    if (!last) continue;
    const { path } = last.attempt.target;
    return last.supposed ? `no failure of ${path} falls through to it` : `${path} rejects the request, which ends it`;
  }
  return 'the request is answered before any target is tried';
}

const isInside = (path: string, group: string): boolean => path === group || path.startsWith(`${group}.`);
