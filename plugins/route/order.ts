import type { ChoiceReason, Exchange, Group, Route } from '../../src/core/kernel/index.ts';
import type { Clock } from '../../src/plugin/index.ts';
import { stickyKey, stickyOrder } from './sticky.ts';

/**
 * The members of a load balance in order of trial. The first is drawn by weight, each further one by weight among the
 * remaining members, so that the requests of a failing target spread over the others in proportion to their weights.
 * @param random 0 ≤ x < 1
 */
export function* drawOrder({ members, weights }: Group, random: () => number): Generator<Route> {
  const left = members.flatMap((member, index) => {
    const weight = weights[index] ?? 0;
    return weight > 0 ? [{ member, weight }] : [];
  });
  while (left.length > 0) {
    const [drawn] = left.splice(draw(left, random()), 1);
    yield drawn!.member;
  }
}

function draw(from: readonly { readonly weight: number }[], at: number): number {
  const total = from.reduce((sum, { weight }) => sum + weight, 0);
  let threshold = at * total;
  for (const [index, { weight }] of from.entries()) {
    threshold -= weight;
    if (threshold < 0) return index;
  }
  // Rounding can leave `threshold` slightly above zero after the last member.
  return from.length - 1;
}

interface Order {
  readonly order: Iterable<Route>;
  /** Why the first member is tried; undefined when the group offers no choice. */
  readonly reason: ChoiceReason | undefined;
}

interface OrderTools {
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
