import { describe, expect, it } from 'vitest';
import { MOST_GROWTH } from './measure.ts';
import { growthBetween, GROWTH_BYTES } from './replies-growth.ts';
import { CLIENTS, NAMES, pairOf, readReply, readsOf, SHAPES } from './replies-run.ts';

/**
 * Whoever answers may be hostile: callers choose hosts. Whatever a reply looks like and however it is cut into reads, eight times the
 * bytes cost less than fourteen times the time, for every client.
 */
const form = (stream: boolean): string => (stream ? 'stream' : 'plain reply');

describe.each(NAMES)('what a reply of %s costs', (upstream) => {
  const shapes = SHAPES[upstream].map((shape) => [form(shape.stream), shape.name, shape] as const);

  it.each(shapes)('grows with its bytes (%s: %s)', { timeout: 120_000 }, (_form, _name, shape) => {
    const [small, large] = GROWTH_BYTES.map((bytes) => readsOf(shape, bytes));
    for (const { client, strict } of CLIENTS) {
      const one = { upstream, client, strict, shape };
      const growth = growthBetween(
        () => void readReply(one, small!),
        () => void readReply(one, large!),
      );
      expect(growth, pairOf(one)).toBeLessThan(MOST_GROWTH);
    }
  });
});
