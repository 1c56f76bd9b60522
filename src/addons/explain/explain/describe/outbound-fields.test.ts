import { describe, expect, it } from 'vitest';
import { MAX_PROBES } from '../../explanation/field-sources/field-sources.ts';
import { probesFor } from './outbound-fields.ts';

describe('the number of probes', () => {
  it('decreases with the size of the request, to a minimum', () => {
    expect([100, 100_000, 10_000_000].map((bytes) => probesFor(bytes, 1))).toEqual([MAX_PROBES, 167, 20]);
  });

  it('is limited for many targets together as for two', () => {
    for (const targets of [3, 5, 8])
      expect(targets * probesFor(100_000, targets)).toBeLessThanOrEqual(2 * probesFor(100_000, 2) + 1);
  });
});
