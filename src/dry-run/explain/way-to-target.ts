import type { Conditional, Group, Route, Target } from '../../plugin/index.ts';

/** A group, or a conditional, and the member of it that leads to a target. */
export interface TreeStep {
  readonly around: Group | Conditional;
  readonly member: Route;
}

/** From the root of a config to one of its targets. Empty where the config is the target. */
export function wayTo(route: Route, target: Target): readonly TreeStep[] {
  if (route.kind === 'target') return [];
  const member = route.members.find(({ path }) => path === target.path || target.path.startsWith(`${path}.`));
  return member ? [{ around: route, member }, ...wayTo(member, target)] : [];
}

/** Members of a load balance without weight are never asked. */
export const isInUse = ({ mode, weights, members }: Group, member: Route): boolean =>
  mode !== 'loadbalance' || weights[members.indexOf(member)] !== 0;
