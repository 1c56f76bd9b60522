import { expect, it } from 'vitest';
import { isFull, runs } from '../support/effort.ts';
import { compare } from './comparison.ts';

/** The gate sends fewer of them. */
const REQUESTS = isFull('properties') ? 1_000 : 30;
/** Few in each test, so that a loaded machine is within its limit. */
const CHANGES = 10;
const FIRST_SEED = 20_261_130;

const sums = { same: 0, changed: 0, unknown: 0 };

it.each(Array.from({ length: runs(200) / CHANGES }, (_, index) => FIRST_SEED + index * CHANGES))(
  'The effect of ten random changes, from seed %d, is what happens when the recorded requests are sent with them',
  async (from) => {
    for (let seed = from; seed < from + CHANGES; seed++) {
      const { same, changed, unknown, disagreements } = await compare(seed, REQUESTS);
      expect({ seed, disagreements: disagreements.slice(0, 3) }).toEqual({ seed, disagreements: [] });
      sums.same += same;
      sums.changed += changed;
      sums.unknown += unknown;
    }
  },
  900_000,
);

it('The effect does not hide in what it does not know', () => {
  expect(sums.unknown).toBeLessThan(0.4 * (sums.same + sums.changed + sums.unknown));
  expect(sums.changed).toBeGreaterThan(0.02 * sums.same);
});
