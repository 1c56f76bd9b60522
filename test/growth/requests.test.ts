import { describe, expect, test } from 'vitest';
import { growthOf, LARGE_BYTES, MOST_GROWTH, SMALL_BYTES } from './measure.ts';
import { ROUTES } from './request-pairs.ts';
import { bytesOf, serve } from './request-run.ts';

/** A collection of garbage or a busy machine can double one measurement: what has grown too fast is measured once more. */
const TRIES = 3;

describe.each(ROUTES)(
  'The cost of reading, checking and translating a body of $operation.id',
  ({ operation, shapes, formats }) => {
    test.each(Object.entries(shapes))('grows with its bytes for %s', (_, make) => {
      const inputs = new Map([SMALL_BYTES, LARGE_BYTES].map((bytes) => [bytes, bytesOf(make(bytes))]));
      for (const [name, target] of Object.entries(formats)) {
        const grow = () => growthOf((bytes) => () => void serve(inputs.get(bytes)!, operation, target)).factor;
        let factor = grow();
        for (let again = 1; again < TRIES && factor >= MOST_GROWTH; again += 1) factor = Math.min(factor, grow());
        expect(factor, `for ${name}`).toBeLessThan(MOST_GROWTH);
      }
    });
  },
);
