import { describe, expect, test } from 'vitest';
import { growthOf, MOST_GROWTH } from './measure.ts';
import { ROUTES } from './request-pairs.ts';
import { bytesOf, serve } from './request-run.ts';

describe.each(ROUTES)(
  'The cost of reading, checking and translating a body of $operation.id',
  ({ operation, shapes, formats }) => {
    test.each(Object.entries(shapes))('grows with its bytes for %s', { timeout: 120_000 }, (_, make) => {
      const inputs = new Map<number, Buffer>();
      const inputOf = (bytes: number): Buffer => {
        const known = inputs.get(bytes);
        if (known) return known;
        const made = bytesOf(make(bytes));
        inputs.set(bytes, made);
        return made;
      };
      for (const [name, target] of Object.entries(formats)) {
        const { factor } = growthOf((bytes) => {
          const input = inputOf(bytes);
          return () => void serve(input, operation, target);
        });
        expect(factor, `for ${name}`).toBeLessThan(MOST_GROWTH);
      }
    });
  },
);
