import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leavesTime } from './timeouts.ts';

describe('a wait', () => {
  it.each([
    [0, 1, true],
    [0, 0, false],
    [100, 199, false],
    [100, 200, true],
    [1000, 1999, false],
    [1000, 2000, true],
    [59_000, 60_000, true],
    [59_001, 60_000, false],
    [60_000, 60_000, false],
    [70_000, 60_000, false],
  ])('of %d ms leaves time for an answer of %d ms: %s', (waitMs, leftMs, leaves) => {
    expect(leavesTime(waitMs, leftMs)).toBe(leaves);
  });

  it('leaves time whenever a longer one does', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(100_000), fc.nat(100_000), (one, other, left) => {
        if (leavesTime(Math.max(one, other), left)) expect(leavesTime(Math.min(one, other), left)).toBe(true);
      }),
    );
  });
});
