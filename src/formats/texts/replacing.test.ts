import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replacing, type ReplacingOptions } from './replacing.ts';

/** All that leaves for pieces of a text. */
function replaced(pattern: RegExp, pieces: readonly string[], options: ReplacingOptions): string {
  const transform = replacing(pattern, '<$&>', options);
  let kept = '';
  let out = '';
  for (const [at, piece] of [...pieces, ''].entries()) {
    const given = kept + piece;
    const { text, keep = 0 } = transform(given, at === pieces.length) as { text: string; keep?: number };
    out += text;
    kept = given.slice(given.length - keep);
  }
  return out;
}

const PATTERNS: readonly [string, RegExp, ReplacingOptions][] = [
  ['alternatives of which one is the start of the other', /ab|abcd|b{1,3}c/g, { longest: 4 }],
  ['bounds of words', /\b[ab]{2}\b/g, { longest: 2, of: /[ab]/ }],
  ['a start and an end of the text', /^ab|cd$/g, { longest: 2 }],
  ['a look behind and ahead', /(?<!a)b(?=c)/g, { longest: 1 }],
  ['characters of two units', /🙂{1,2}/gu, { longest: 4, of: /🙂/u }],
  ['bounded repetitions', /[ab]{1,3}c(?:d[ab]{1,2}){0,2}|_(?: ?d){1,3}/g, { longest: 10 }],
  ['a lazy repetition', /a.{0,3}?b|c$/g, { longest: 5 }],
  ['a bound of words and no class', /\bab?\b|d+?\B/g, { longest: 16 }],
  ['characters of two units and no class', /🙂{1,2}_|\u{1f642}a/gu, { longest: 5 }],
  ['no flag g', /a/, { longest: 1, of: /a/ }],
];

describe.each(PATTERNS)('replacing with %s', (_, pattern, options) => {
  it('gives the same text for every split', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ' ', '🙂', '_'), { maxLength: 16 });
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 6 }), (characters, sizes) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < characters.length; turn += 1) {
          const size = 1 + sizes[turn % sizes.length]!;
          pieces.push(characters.slice(at, at + size).join(''));
          at += size;
        }
        const global = new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
        expect(replaced(pattern, pieces, options)).toBe(characters.join('').replaceAll(global, '<$&>'));
      }),
    );
  });
});

describe('replacing', () => {
  it('refuses a match that is longer than it says, or of other characters', () => {
    expect(() => replaced(/a+/, ['aaaa'], { longest: 3 })).toThrow(RangeError);
    expect(() => replaced(/a b/, ['a b'], { longest: 3, of: /[ab]/ })).toThrow(RangeError);
  });

  it('needs the length of the longest match', () => {
    expect(() => replacing(/a/, '', { longest: 0 })).toThrow('`longest`');
  });

  it('keeps nothing of a text that cannot be a part of a match', () => {
    const transform = replacing(/\d{12,19}/, '[CARD]', { longest: 19, of: /\d/ });
    expect(transform('Hello there, ', false)).toMatchObject({ text: 'Hello there, ', keep: 0 });
    expect(transform('call 4111', false)).toMatchObject({ text: 'call ', keep: 4 });
  });
});
