import { describe, expect, test } from 'vitest';
import { LARGEST_CAP, parseCap, parseRate } from './amounts.ts';

describe('a cap', () => {
  test.each([
    ['500 USD', { unit: 'usd', amount: 500_000_000_000 }],
    ['0.1 USD', { unit: 'usd', amount: 100_000_000 }],
    ['0.000000001 USD', { unit: 'usd', amount: 1 }],
    ['1.005 USD', { unit: 'usd', amount: 1_005_000_000 }],
    ['0 USD', { unit: 'usd', amount: 0 }],
    ['9000000 USD', { unit: 'usd', amount: LARGEST_CAP }],
    ['2000000 tokens', { unit: 'tokens', amount: 2_000_000 }],
  ])('%s is an exact integer', (text, cap) => {
    expect(parseCap(text)).toEqual(cap);
  });

  test.each([
    ['9000000.000000001 USD', 'a cap is at most 9000000 USD'],
    ['9000000000000001 tokens', 'a cap is at most 9000000000000000 tokens'],
    ['1.5 tokens', 'tokens are whole numbers'],
    ['500 EUR', 'cannot read "500 EUR"'],
    ['-1 USD', 'cannot read "-1 USD"'],
    ['1e3 USD', 'cannot read "1e3 USD"'],
  ])('%s is refused', (text, message) => {
    expect(() => parseCap(text)).toThrow(new RangeError(message));
  });
});

test.each([
  ['10/s', { count: 10, perMs: 1000 }],
  ['600/min', { count: 600, perMs: 60_000 }],
  ['5000/h', { count: 5000, perMs: 3_600_000 }],
])('the rate %s is a count per time', (text, rate) => {
  expect(parseRate(text)).toEqual(rate);
});
