import { describe, expect, test } from 'vitest';
import { searchFor } from '../../src/addons/guards/search/index.ts';
import { masked, maskingStream } from '../../src/addons/guards/search/scan.ts';
import type { TextSearch } from '../../src/addons/guards/search/text-search.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';

const PII = searchFor('pii', {
  kinds: ['email', 'phone', 'card', 'iban', 'ssn', 'ip', 'secret'],
  countries: ['US', 'DE'],
})!;

/** Texts that begin a match at every place, and never end it. */
const SHAPES: readonly (readonly [name: string, search: TextSearch, piece: string])[] = [
  ['private keys', PII, '-----BEGIN PRIVATE KEY-----a'],
  ['tokens', PII, '-eyJ'],
  ['prefixes', PII, 'sk-'],
  ['addresses', PII, '://a:bcde'],
  ['names', PII, 'a@a.'],
  ['digits', PII, '1 '],
  ['phones', PII, '0123456,'],
  ['accounts', PII, 'AA11 '],
  ['invisible characters', PII, '\u200b'],
  ['phrases', searchFor('words', { words: ['a a a a a a a b', 'a b'], mask: '' })!, 'a '],
  ['attacks', searchFor('injection', {})!, 'ignore all of the '],
  ['a pattern', searchFor('regex', { pattern: '(?:a|aa){1,200}b', mask: '' })!, 'a'],
];

const textOf = (piece: string, bytes: number): string => piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes);

function stream(text: string, search: TextSearch): void {
  const transform = maskingStream(search, () => {});
  let kept = '';
  for (let at = 0; at < text.length; at += 7) {
    const given = kept + text.slice(at, at + 7);
    const result = transform(given, false);
    const keep = typeof result === 'string' ? 0 : (result.keep ?? 0);
    kept = keep === 0 ? '' : given.slice(-keep);
  }
}

describe('The cost of a guard', () => {
  test.each(SHAPES)('grows with the bytes of a text of %s', { timeout: 120_000 }, (_, search, piece) => {
    const { factor } = growthOf((bytes) => {
      const text = textOf(piece, bytes);
      return () => void masked(text, search, () => {});
    });
    expect(factor).toBeLessThan(MOST_GROWTH);
  });

  // The others take minutes on a busy machine, in pieces of seven characters; scan.ts bounds what is searched again.
  test.each(SHAPES.filter(([name]) => ['private keys', 'addresses', 'phones'].includes(name)))(
    'grows with the bytes of a stream of %s',
    { timeout: 120_000 },
    (_, search, piece) => {
      const { factor } = growthOf((bytes) => {
        const text = textOf(piece, bytes);
        return () => stream(text, search);
      });
      expect(factor).toBeLessThan(MOST_GROWTH);
    },
  );
});
