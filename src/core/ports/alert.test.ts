import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitsOf } from './alert.ts';

describe('the bits of alerts', () => {
  it('differ for the thresholds of a budget', () => {
    const thresholds = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { maxLength: 10 });
    fc.assert(
      fc.property(thresholds, (given) => {
        const bits = bitsOf(given.toSorted((a, b) => a - b));
        expect(new Set(bits).size).toBe(given.length);
        for (const bit of bits) expect([bit >= 0, bit <= 30]).toEqual([true, true]);
      }),
    );
  });

  it('stay with their threshold when others come and go', () => {
    expect(bitsOf([50, 80, 100])).toEqual([19, 18, 7]);
    expect(bitsOf([80, 90, 100])).toEqual([18, 28, 7]);
    expect(bitsOf([69, 100])).toEqual([7, 8]);
  });
});
