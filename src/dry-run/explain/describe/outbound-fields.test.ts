import { describe, expect, it } from 'vitest';
import { MAX_PROBES } from '../../explanation/field-sources/field-sources.ts';
import { probesFor } from './outbound-fields.ts';

describe('how often a request is written again', () => {
  it('is less often the larger it is, and a few times at least', () => {
    expect([100, 100_000, 10_000_000].map((bytes) => probesFor(bytes, 1))).toEqual([MAX_PROBES, 167, 20]);
  });

  it('is no more often for many targets together than for two', () => {
    for (const targets of [3, 5, 8])
      expect(targets * probesFor(100_000, targets)).toBeLessThanOrEqual(2 * probesFor(100_000, 2) + 1);
  });
});
