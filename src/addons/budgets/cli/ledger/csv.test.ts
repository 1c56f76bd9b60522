import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvLine } from './export.ts';

it.each([
  ['a text', 'search', 'search'],
  ['a number', 12, '12'],
  ['an amount that is taken back', '-0.5', '-0.5'],
  ['nothing', undefined, ''],
  ['a comma and quotes', 'a, "b"', '"a, ""b"""'],
  ['a formula', '=1+1', `"'=1+1"`],
  ['an entry of the catalog', '@openai/m', `"'@openai/m"`],
  ['a sign before a text', '-cmd', `"'-cmd"`],
  ['a plus', '+1-1', `"'+1-1"`],
  ['a line before a formula', '\n=1', `"'\n=1"`],
])('%s becomes a cell that no spreadsheet calculates', (_, cell, text) => {
  expect(csvLine([cell, 'end'])).toBe(`${text},end\r\n`);
});

it('no text becomes the begin of a formula, and each can be read back', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '"', ',', '\r', '\n', '1', 'a') }),
      (text) => {
        const line = csvLine([text]).slice(0, -2);
        const cell = line.startsWith('"') ? line.slice(1, -1).replaceAll('""', '"') : line;
        expect(cell.replace(/^'/, '')).toBe(text);
        expect(cell).not.toMatch(/^(?:[=+@\t\r\n]|-(?!\d+(?:\.\d+)?$))/);
      },
    ),
  );
});
