import type { Conditional, Group, Route, Target } from '../../../core/kernel/index.ts';

/** A group or conditional, with its member that leads to a target. */
interface TreeStep {
  readonly around: Group | Conditional;
  readonly member: Route;
}

/** The steps from the root of a config to one of its targets. Empty when the config is the target. */
export function wayTo(route: Route, target: Target): readonly TreeStep[] {
  if (route.kind === 'target') return [];
  const member = route.members.find(({ path }) => path === target.path || target.path.startsWith(`${path}.`));
  return member ? [{ around: route, member }, ...wayTo(member, target)] : [];
}

/** Members of weight 0 in a load balance are never tried. */
export const isInUse = ({ mode, weights, members }: Group, member: Route): boolean =>
  mode !== 'loadbalance' || weights[members.indexOf(member)] !== 0;
