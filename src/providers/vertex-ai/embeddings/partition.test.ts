import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partition } from './partition.ts';

const weights = fc.array(fc.integer({ min: 0, max: 30 }));
const limits = fc.record({ count: fc.integer({ min: 1, max: 10 }), weight: fc.integer({ min: 1, max: 40 }) });

test('calls contain all items once and in order, none is empty, and only a single item exceeds a limit', () => {
  fc.assert(
    fc.property(weights, limits, (items, limits) => {
      const calls = partition(items, limits, (weight) => weight);
      expect(calls.flat()).toEqual(items);
      for (const call of calls) {
        expect(call.length).toBeGreaterThan(0);
        expect(call.length).toBeLessThanOrEqual(limits.count);
        const sum = call.reduce((total, weight) => total + weight, 0);
        if (call.length > 1) expect(sum).toBeLessThanOrEqual(limits.weight);
      }
    }),
  );
});

test('no two neighbouring calls would have fitted into one', () => {
  fc.assert(
    fc.property(weights, limits, (items, limits) => {
      const calls = partition(items, limits, (weight) => weight);
      for (const [at, call] of calls.entries()) {
        const next = calls[at + 1]?.[0];
        if (next === undefined) continue;
        const sum = call.reduce((total, weight) => total + weight, next);
        expect(call.length === limits.count || sum > limits.weight).toBe(true);
      }
    }),
  );
});
