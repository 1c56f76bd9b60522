import { describe, expect, it } from 'vitest';
import { costText, csvLine } from './export-rows.ts';

describe('a cell of a CSV file', () => {
  it.each([
    ['plain', 'plain'],
    ['=1+1', "'=1+1"],
    ['@name', "'@name"],
    ['+1 call', "'+1 call"],
    ['-x', "'-x"],
    ['\tx', "'\tx"],
    ['-5.25', '-5.25'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['=a,"b"', `"'=a,""b"""`],
    [null, ''],
    [-5, '-5'],
  ])('of %j is %s: no formula, and a number as it is', (cell, wanted) => {
    expect(csvLine([cell])).toBe(`${wanted}\r\n`);
  });
});

it('an amount that is given back is negative USD', () => {
  expect([costText(-1_500_000_000), costText(7), costText(0)]).toEqual(['-1.5', '0.000000007', '0']);
});
