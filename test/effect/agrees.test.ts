import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isFull, runs } from '../support/effort.ts';
import { compare } from './comparison.ts';

/** The gate sends fewer of them. */
const REQUESTS = isFull('properties') ? 1_000 : 30;

it('says of recorded requests what happens when they are sent with the changed settings', async () => {
  const sums = { same: 0, changed: 0, unknown: 0 };
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
      const { same, changed, unknown, disagreements } = await compare(seed, REQUESTS);
      expect(disagreements.slice(0, 3)).toEqual([]);
      sums.same += same;
      sums.changed += changed;
      sums.unknown += unknown;
    }),
    { numRuns: runs(200), seed: 20_261_130, endOnFailure: true },
  );
  // It does not hide in what it does not know.
  expect(sums.unknown).toBeLessThan(0.4 * (sums.same + sums.changed + sums.unknown));
  expect(sums.changed).toBeGreaterThan(0.02 * sums.same);
}, 1_800_000);
