import { describe, expect, it } from 'vitest';
import { clock, count, day, duration, moment, ms, offset, usd } from './format.ts';

describe('the page', () => {
  it.each([
    [0.0000563, '$0.000056'],
    [0.0021, '$0.0021'],
    [0, '$0'],
    [12.0305, '$12.03'],
    [1234.5, '$1,234.50'],
    [-0.5, '-$0.50'],
    [undefined, '–'],
  ])('writes %j dollars as %s', (value, text) => expect(usd(value)).toBe(text));

  it.each([
    [0.2, '<1 ms'],
    [401.4, '401 ms'],
    [12_340, '12.3 s'],
    [600_000, '10 min'],
    [undefined, '–'],
  ])('writes %j milliseconds as %s', (value, text) => expect(ms(value)).toBe(text));

  it('writes long times in the two units that matter', () => {
    expect([12_000, 3_600_000, 12_000_000, 4 * 86_400_000, 187_200_000].map(duration)).toEqual([
      '12 s',
      '1 h',
      '3 h 20 min',
      '4 d',
      '2 d 4 h',
    ]);
  });

  it('writes times in the chosen zone, with its offset', () => {
    const at = '2026-11-28T18:43:59.5Z';
    expect([clock(at, 'UTC'), day(at, 'UTC'), offset(at, 'UTC'), moment(at, 'UTC')]).toEqual([
      '18:43:59',
      '2026-11-28',
      'UTC',
      '2026-11-28 18:43:59 UTC',
    ]);
  });

  it('writes an unknown count as a dash, never as 0', () => expect([count(undefined), count(0)]).toEqual(['–', '0']));
});
