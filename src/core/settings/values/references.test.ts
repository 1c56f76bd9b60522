import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseReferences } from './references.ts';

const env = (name: string, raw: string, fallback?: string) => ({ kind: 'env', name, fallback, raw });
const file = (name: string, raw: string) => ({ kind: 'file', name, fallback: undefined, raw });

test.each([
  ['plain', ['plain']],
  ['', ['']],
  ['$', ['$']],
  ['costs $5 {x}', ['costs $5 {x}']],
  ['${env:A}', [env('A', '${env:A}')]],
  ['${env:_a1}', [env('_a1', '${env:_a1}')]],
  ['${env:A:-}', [env('A', '${env:A:-}', '')]],
  ['${env:A:-b c}', [env('A', '${env:A:-b c}', 'b c')]],
  ['${env:A:-b:-c}', [env('A', '${env:A:-b:-c}', 'b:-c')]],
  ['${env:A:-https://a.example/b}', [env('A', '${env:A:-https://a.example/b}', 'https://a.example/b')]],
  ['${env:A:-two\nlines}', [env('A', '${env:A:-two\nlines}', 'two\nlines')]],
  ['${file:a/b.json}', [file('a/b.json', '${file:a/b.json}')]],
  ['${file: with space }', [file('with space', '${file: with space }')]],
  ['a${env:B}c${file:d}e', ['a', env('B', '${env:B}'), 'c', file('d', '${file:d}'), 'e']],
  ['${env:A}${env:A}', [env('A', '${env:A}'), env('A', '${env:A}')]],
  ['$${env:A}', ['${env:A}']],
  ['$$${env:A}', ['$${env:A}']],
  ['$${a}${env:B}', ['${a}', env('B', '${env:B}')]],
  ['$$', ['$$']],
])('%j is read as text and references', (text, pieces) => {
  expect(parseReferences(text)).toEqual(pieces);
});

test.each([
  ['${', /never closed/],
  ['a${env:A', /never closed/],
  ['${}', /not a reference/],
  ['${A}', /not a reference/],
  ['${ENV:A}', /not a reference/],
  ['${env:}', /not a reference/],
  ['${env:1A}', /not a reference/],
  ['${env:A-B}', /not a reference/],
  ['${env:A:b}', /not a reference/],
  ['${file:}', /not a reference/],
  ['${file: }', /not a reference/],
  ['${env:${env:A}}', /do not nest/],
  ['${env:A:-{"b":1}}', /cannot hold/],
])('%j is reported as a mistake', (text, message) => {
  const found = parseReferences(text).flatMap((piece) =>
    typeof piece !== 'string' && piece.kind === 'bad' ? [piece.message] : [],
  );
  expect(found).toEqual([expect.stringMatching(message)]);
});

const escape = (text: string): string => text.replaceAll('${', () => '$${');
const part = fc.constantFrom('a', '$', '{', '}', '${', '$${', '${env:A}', '${env:A:-b}', '${file:c}', ':', ' ');

test('the raw pieces of a text, joined, are the text again', () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
      (text) => {
        const pieces = parseReferences(text);
        const written = pieces.map((piece) => (typeof piece === 'string' ? escape(piece) : piece.raw)).join('');
        expect(written).toBe(text);
      },
    ),
  );
});

test('escaping a text and parsing it gives the text back', () => {
  fc.assert(
    fc.property(
      fc.array(part).map((parts) => parts.join('')),
      (text) => {
        expect(parseReferences(escape(text))).toEqual([text]);
      },
    ),
  );
});
