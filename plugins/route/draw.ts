import type { Group, Route } from '../../src/plugin/index.ts';

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
