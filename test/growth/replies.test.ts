import { describe, expect, test } from 'vitest';
import { growthOf, LARGE_BYTES, MOST_GROWTH, SMALL_BYTES } from './measure.ts';
import { leastWork } from './reply-ratio.ts';
import type { ReplyShape } from './replies-build.ts';
import { CLIENTS, NAMES, pairOf, readReply, readsOf, SHAPES } from './replies-run.ts';

const form = (stream: boolean): string => (stream ? 'stream' : 'plain reply');

/**
 * Reading a hundred thousand names costs the parser more for each of them than a thousand do, since the caches hold less of them: where
 * the least work grows faster than its bytes, the reply may do so in proportion.
 */
function mostGrowth(shape: ReplyShape, inputOf: (bytes: number) => readonly Buffer[]): number {
  const { factor } = growthOf((bytes) => leastWork(inputOf(bytes), shape));
  return MOST_GROWTH * Math.max(1, factor / (LARGE_BYTES / SMALL_BYTES));
}

/** The upstream may be hostile: callers choose hosts. Every shape, cut into its reads, for every client. */
describe.each(NAMES)('The cost of a reply of %s', (upstream) => {
  const shapes = SHAPES[upstream].map((shape) => [form(shape.stream), shape.name, shape] as const);

  test.each(shapes)('grows with its bytes (%s: %s)', { timeout: 120_000 }, (_form, _name, shape) => {
    const inputs = new Map<number, readonly Buffer[]>();
    const inputOf = (bytes: number): readonly Buffer[] => {
      const reads = inputs.get(bytes) ?? readsOf(shape, bytes);
      inputs.set(bytes, reads);
      return reads;
    };
    for (const { client, strict } of CLIENTS) {
      const one = { upstream, client, strict, shape };
      const { factor } = growthOf((bytes) => {
        const reads = inputOf(bytes);
        return () => void readReply(one, reads);
      });
      if (factor >= MOST_GROWTH) expect(factor, pairOf(one)).toBeLessThan(mostGrowth(shape, inputOf));
    }
  });
});
