import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvLine } from './csv.ts';

describe('a cell of a CSV file', () => {
  it.each([
    ['plain', 'plain'],
    ['=1+1', `"'=1+1"`],
    ['@openai/m', `"'@openai/m"`],
    ['\uff1d1+1', `"'\uff1d1+1"`],
    ['+1 call', `"'+1 call"`],
    ['-cmd', `"'-cmd"`],
    ['\tx', `"'\tx"`],
    ['\n=1', `"'\n=1"`],
    ['-5.25', '-5.25'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['=a,"b"', `"'=a,""b"""`],
    [null, ''],
    [undefined, ''],
    [-5, '-5'],
  ])('of %j is %s: no formula, and a number as it is', (cell, wanted) => {
    expect(csvLine([cell, 'end'])).toBe(`${wanted},end\r\n`);
  });

  it('begins no formula, whatever its text, and can be read back', () => {
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
});
