import fc from 'fast-check';
import { expect, it } from 'vitest';
import { differing, linesOf } from './differing.ts';

const diff = (old: string, now: string): string => differing(old.split(' '), now.split(' ')).join('|');

it.each([
  ['a b c', 'a b c', ''],
  ['a b c', 'a x c', '  a|- b|+ x|  c'],
  ['a b', 'a b c', '  a|  b|+ c'],
  ['1 2 3 4 5 6 7 8 9', '1 2 3 4 X 6 7 8 9', '  1|  2|  3|  4|- 5|+ X|  6|  7|  8|  9'],
  ['0 1 2 3 4 5 6 7 8 9 a', '0 1 2 3 4 X 6 7 8 9 a', '…|  2|  3|  4|- 5|+ X|  6|  7|  8|…'],
])('the lines %s and %s differ as %s', (old, now, shown) => expect(diff(old, now)).toBe(shown));

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });

it('a difference has each changed line once, and both texts can be read from it', () => {
  fc.assert(
    fc.property(lines, lines, (old, now) => {
      // Without left-out lines: the texts are short between their differences.
      const shown = differing(old, now).filter((line) => line !== '…');
      const of = (signs: string): string =>
        shown
          .filter((line) => signs.includes(line[0] ?? ''))
          .map((line) => line.slice(2))
          .join('\n');
      expect(old.join('\n')).toContain(of(' -'));
      expect(now.join('\n')).toContain(of(' +'));
      expect(shown.length === 0).toBe(old.join('\n') === now.join('\n') && old.length === now.length);
    }),
  );
});

it('of two long texts without a common line, every line is old or new', () => {
  const [old, now] = [0, 1].map((text) => Array.from({ length: 2000 }, (_, index) => `${text} ${index}`));
  expect(differing(old!, now!).length).toBe(4000);
});

it('a value that is not there has no lines', () => {
  expect([linesOf(null), linesOf({ a: 1 })]).toEqual([[], ['{', '  "a": 1', '}']]);
});
