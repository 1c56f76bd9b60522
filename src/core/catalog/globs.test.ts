import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Globs } from './globs.ts';

describe('Globs', () => {
  test.each([
    ['gemini-2.5-*', 'gemini-2.5-pro', true],
    ['gemini-2.5-*', 'gemini-2.5-', true],
    ['gemini-2.5-*', 'gemini-2x5-pro', false],
    ['gemini-2.5-*', 'xgemini-2.5-pro', false],
    ['*-pro', 'gemini-2.5-pro', true],
    ['*-pro', 'gemini-2.5-pro-x', false],
    ['*', '', true],
    ['*', 'anything/at all', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*bc', 'abc', false],
    ['a**b', 'ab', true],
    ['@x/*', '@x/gemini', true],
    ['exact', 'exact', true],
    ['exact', 'exactly', false],
    ['', '', true],
  ])('%j against %j: %s', (pattern, text, fits) => {
    expect(new Globs([pattern]).matches(text)).toBe(fits);
  });

  test('match like the equivalent regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 10 });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 3 }), text, (patterns, given) => {
        const expected = patterns.some((pattern) =>
          new RegExp(
            `^${pattern
              .split('*')
              .map((piece) => piece.replaceAll('.', '\\.'))
              .join('.*')}$`,
            's',
          ).test(given),
        );
        expect(new Globs(patterns).matches(given)).toBe(expected);
      }),
    );
  });

  test('match quickly with a pattern made to be slow', () => {
    const pattern = `${'a*'.repeat(50)}b`;
    expect(new Globs([pattern]).matches('a'.repeat(20_000))).toBe(false);
  });
});
