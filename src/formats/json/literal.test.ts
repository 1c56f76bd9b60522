import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBytes, joinedBytes, literalAt, LiteralText, textLength, toBytes } from './literal.ts';
import { runs } from '../../../test/support/effort.ts';

const BACKSLASH = '\\';

describe('the literal at a place of a JSON text', () => {
  it('is what JSON.stringify writes, whatever form it is read in', () => {
    const forms = [
      (code: string) => code,
      (code: string) => JSON.stringify(code).slice(1, -1),
      (code: string) => `${BACKSLASH}u${code.charCodeAt(0).toString(16).padStart(4, '0')}`,
      (code: string) => `${BACKSLASH}u${code.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`,
      (code: string) => (code === '/' ? `${BACKSLASH}/` : code),
    ];
    const unit = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom(...'/"\\\n\u0001\u007f\u2028\ud83d\ude00é<'),
    );
    const pieces = fc.array(fc.tuple(unit, fc.constantFrom(...forms)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pieces, fc.string(), (pairs, before) => {
        const read = pairs.map(([text, form]) => [...text].map((code) => form(code)).join('')).join('');
        const start = toBytes(before).length;
        const bytes = toBytes(`${before}${read}"after`);
        let parsed: unknown;
        try {
          parsed = JSON.parse(`"${read}"`);
        } catch {
          parsed = undefined;
        }
        const found = literalAt(bytes, start);
        if (typeof parsed !== 'string') {
          // An unescaped quote ends the literal early.
          if (found) expect(() => JSON.parse(`"${fromBytes(bytes.slice(start, found.close))}"`)).not.toThrow();
          return;
        }
        const literal = toBytes(JSON.stringify(parsed).slice(1, -1));
        const plain = read === parsed && Buffer.byteLength(read) === read.length;
        expect(found).toEqual({ literal, close: start + toBytes(read).length, plain });
        expect(textLength(literal)).toBe(parsed.length);
        expect(new LiteralText(0, 0, [literal, literal]).text).toBe(parsed + parsed);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each(['', '"', 'open', 'line\nbreak"', `${BACKSLASH}x"`, `${BACKSLASH}u12"`, `${BACKSLASH}`, `a${BACKSLASH}\n"`])(
    'is not found in %j',
    (text) => {
      expect(literalAt(text, 0)).toBeUndefined();
    },
  );
});

it.each([1, 5000])('the bytes of %i texts are the texts joined', (count) => {
  const text = 'é 🙂 "\u2028';
  expect(joinedBytes(Array.from({ length: count }, () => toBytes(text))).toString()).toBe(text.repeat(count));
});
