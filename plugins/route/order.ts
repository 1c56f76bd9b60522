import type { ChoiceReason, Clock, Exchange, Group, Route } from '../../src/plugin/index.ts';
import { drawOrder } from './draw.ts';
import { stickyKey, stickyOrder } from './sticky.ts';

export interface Order {
  readonly order: Iterable<Route>;
  /** Why the first member is tried; undefined when the group offers no choice. */
  readonly reason: ChoiceReason | undefined;
}

export interface OrderTools {
  readonly clock: Pick<Clock, 'wall'>;
  readonly random: () => number;
}

/** The members of a group in order of trial. */
export function orderOf(group: Group, exchange: Exchange, { clock, random }: OrderTools): Order {
  if (group.mode !== 'loadbalance')
    return { order: group.members, reason: group.members.length > 1 ? 'first' : undefined };
  const key = group.sticky && stickyKey(group.sticky, exchange);
  if (!group.sticky || !key) return { order: drawOrder(group, random), reason: 'weight' };
  return { order: stickyOrder(group, group.sticky, key, clock.wall()), reason: 'sticky' };
}
