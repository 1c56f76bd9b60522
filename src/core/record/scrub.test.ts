import fc from 'fast-check';
import { expect, it } from 'vitest';
import { scrub, withMarks } from './scrub.ts';

/** As it reads, in a time in the square of a run of characters. */
const PLAIN_JWT = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

const piece = fc.constantFrom('eyJ', 'eyJhbGciOi', 'abcdefgh', 'x', '-', '_', '.', ' ', '"');

it('A JWT becomes marks wherever it is, and nothing else does', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join('');
      expect(withMarks(text)).toBe(text.replace(PLAIN_JWT, ({ length }) => '*'.repeat(length)));
      expect(scrub(text)).toBe(text.replace(PLAIN_JWT, '[secret]'));
    }),
    { numRuns: 2_000 },
  );
});

// In the square of their length they would take minutes.
it.each(['eyJ-', 'eyJ-eyJhbGciOiJIUzI1.', '"api_key":', '\\"token\\":\\"', '-----BEGIN A', 'bearer '])(
  'A megabyte of %j takes no longer than one of other texts',
  (unit) => {
    const text = unit.repeat(1_000_000 / unit.length);
    expect(withMarks(text)).toHaveLength(text.length);
  },
);
