import { describe, expect, test } from 'vitest';
import { operations } from '../../src/core/operations/index.ts';
import { bodyKind, type Operation } from '../../src/core/kernel/index.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';
import { ROUTES } from './request-pairs.ts';
import { bytesOf, serve } from './request-run.ts';

/** The JSON bodies of these operations are tried elsewhere, or are none of a client's. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'prompts.completions': 'its template makes a chat request of its variables (prompts.test.ts)',
  'prompts.render': 'the same',
};

test('Every operation with a JSON body is tried, at one of its paths', () => {
  const received = (one: Operation) => one.validateReceived ?? one.validate;
  const tried = new Set(ROUTES.map(({ operation }) => received(operation)));
  const missing = operations.filter((one) => bodyKind(one) === 'json' && !tried.has(received(one)));
  const ids = new Set(missing.map(({ id }) => id)).difference(new Set(ROUTES.map(({ operation }) => operation.id)));
  expect([...ids]).toEqual(Object.keys(ELSEWHERE));
});

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
