import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Group, Target } from '../../src/core/kernel/index.ts';
import { createTarget } from '../../src/plugin/testing/index.ts';
import { drawOrder } from './order.ts';

const balance = (weights: readonly number[]): Group => ({
  kind: 'group',
  path: 'config',
  mode: 'loadbalance',
  fallsThrough: { kinds: new Set(), statusCodes: new Set(), stop: new Set() },
  sticky: undefined,
  members: weights.map((_, index) => createTarget({ path: String(index) })),
  weights,
});

const paths = (group: Group, random: () => number): string[] =>
  [...drawOrder(group, random)].map((member) => (member as Target).path);

const weight = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 1000 }),
  fc.double({ min: 0.001, max: 10, noNaN: true }),
);
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the order of a load balance', () => {
  it('contains every member with a weight once, whatever is drawn', () => {
    fc.assert(
      fc.property(fc.array(weight, { maxLength: 20 }), fc.infiniteStream(random), (weights, draws) => {
        const order = paths(balance(weights), () => draws.next().value);
        const used = weights.flatMap((one, index) => (one > 0 ? [String(index)] : []));
        expect(order.toSorted()).toEqual(used.toSorted());
      }),
    );
  });

  it.each([
    [0, '0'],
    [0.2999, '0'],
    [0.3, '2'],
    [0.9999, '2'],
  ])('begins with the member whose share %d falls into', (at, first) => {
    expect(paths(balance([3, 0, 7]), () => at)[0]).toBe(first);
  });

  it('draws each next member by the weights of the remaining ones', () => {
    // 0.5 of 1 + 1 + 8 is the third; of the remaining 1 + 1, the second.
    expect(paths(balance([1, 1, 8]), () => 0.5)).toEqual(['2', '1', '0']);
  });

  it('draws in proportion to the weights', () => {
    const counts = [0, 0, 0];
    const rounds = 10_000;
    for (let round = 0; round < rounds; round += 1) {
      const [first] = paths(balance([1, 2, 7]), () => (round + 0.5) / rounds);
      counts[Number(first)]! += 1;
    }
    expect(counts).toEqual([1000, 2000, 7000]);
  });

  it('draws no second number when the first member answers', () => {
    let draws = 0;
    const order = drawOrder(balance([1, 1]), () => ((draws += 1), 0));
    order.next();
    expect(draws).toBe(1);
  });
});
