import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { isJoining } from './channels.ts';
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

/** A pattern of alternatives, groups, classes and repetitions. */
const atom = fc.constantFrom(
  'a',
  'b',
  '_',
  ' ',
  '\\.',
  '[ab]',
  '\\d',
  '.',
  '(?:ab|_)',
  '(?:a_)',
  '(?:|b)',
  '\\b',
  '^',
  '$',
);
const sequence = fc
  .array(fc.tuple(atom, fc.constantFrom('', '', '', '?', '{0,2}', '{0}', '{2}', '+?', '*')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.map(([one, times]) => (/^(?:\\b|[$^])$/.test(one) ? one : one + times)).join(''));
const anyPattern = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((parts) => new RegExp(parts.join('|'), 'g'));

describe('replacing with any pattern', () => {
  it('gives the same text for every split', () => {
    const pieces = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'b', '_', ' ', '.', '1'), minLength: 1, maxLength: 4 }),
    );
    fc.assert(
      fc.property(anyPattern, pieces, (pattern, texts) => {
        const whole = texts.join('').replaceAll(pattern, (match) => match && `<${match}>`);
        expect(replaced(pattern, texts, { longest: 100 })).toBe(whole);
      }),
      { numRuns: 2000 },
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

  it('joins pieces for a plugin that has loaded another copy of it', async () => {
    vi.resetModules();
    const copy = await import('./replacing.ts');
    expect(copy.replacing).not.toBe(replacing);
    expect(isJoining(copy.replacing(/a/, 'b', { longest: 1 }))).toBe(true);
  });
});
