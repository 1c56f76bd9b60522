import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PeriodTable, type PeriodRule } from './periods.ts';

const rule = (period: PeriodRule['period'], timeZone = 'UTC', dayOfMonth = 1): PeriodRule => ({
  period,
  timeZone,
  dayOfMonth,
});
const at = (one: PeriodRule, moment: string) => {
  const { start, end } = new PeriodTable(one, Date.parse(moment)).at(Date.parse(moment));
  return [new Date(start).toISOString(), new Date(end).toISOString(), (end - start) / 3_600_000];
};

describe('a day begins with the first instant of the local day', () => {
  test.each([
    ['UTC', '2026-11-23T12:00:00Z', '2026-11-23T00:00:00.000Z', '2026-11-24T00:00:00.000Z', 24],
    ['Europe/Berlin', '2026-11-23T23:30:00Z', '2026-11-23T23:00:00.000Z', '2026-11-24T23:00:00.000Z', 24],
    // Summer time begins and ends.
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 23],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 25],
    // The day has no midnight: the clock goes from 23:59:59 to 01:00.
    ['America/Santiago', '2026-09-06T12:00:00Z', '2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z', 23],
    // The hour before midnight comes twice.
    ['America/Santiago', '2026-04-04T12:00:00Z', '2026-04-04T03:00:00.000Z', '2026-04-05T04:00:00.000Z', 25],
    // A zone of 5 hours and 45 minutes.
    ['Asia/Kathmandu', '2026-11-23T18:14:59Z', '2026-11-22T18:15:00.000Z', '2026-11-23T18:15:00.000Z', 24],
    // 2011-12-30 did not take place.
    ['Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z', 24],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-30T10:00:00.000Z', '2011-12-31T10:00:00.000Z', 24],
    // The zone that is furthest ahead.
    ['Pacific/Kiritimati', '2026-11-23T10:00:00Z', '2026-11-23T10:00:00.000Z', '2026-11-24T10:00:00.000Z', 24],
  ])('%s, %s', (zone, moment, start, end, hours) => {
    expect(at(rule('day', zone), moment)).toEqual([start, end, hours]);
  });
});

describe('a month begins with the first instant of its day', () => {
  test.each([
    ['UTC', 1, '2028-02-29T12:00:00Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z', 29 * 24],
    ['UTC', 1, '2027-02-28T23:59:59Z', '2027-02-01T00:00:00.000Z', '2027-03-01T00:00:00.000Z', 28 * 24],
    ['UTC', 28, '2028-02-27T23:59:59Z', '2028-01-28T00:00:00.000Z', '2028-02-28T00:00:00.000Z', 31 * 24],
    ['UTC', 28, '2028-02-29T00:00:00Z', '2028-02-28T00:00:00.000Z', '2028-03-28T00:00:00.000Z', 29 * 24],
    ['Europe/Berlin', 1, '2026-03-15T00:00:00Z', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z', 31 * 24 - 1],
    [
      'America/Santiago',
      6,
      '2026-09-06T04:00:00Z',
      '2026-09-06T04:00:00.000Z',
      '2026-10-06T03:00:00.000Z',
      30 * 24 - 1,
    ],
    ['Asia/Kathmandu', 15, '2026-12-31T20:00:00Z', '2026-12-14T18:15:00.000Z', '2027-01-14T18:15:00.000Z', 31 * 24],
  ])('%s, day %i, %s', (zone, day, moment, start, end, hours) => {
    expect(at(rule('month', zone, day), moment)).toEqual([start, end, hours]);
  });
});

describe('a week begins with the first instant of Monday', () => {
  test.each([
    ['UTC', '2026-11-29T23:59:59Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z', 168],
    ['UTC', '2026-11-30T00:00:00Z', '2026-11-30T00:00:00.000Z', '2026-12-07T00:00:00.000Z', 168],
    // Over the end of a year: the first week of 2027 begins in it.
    ['UTC', '2027-01-02T12:00:00Z', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z', 168],
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-22T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 167],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-18T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 169],
    // Its Sunday has no midnight.
    ['America/Santiago', '2026-09-06T03:00:00Z', '2026-08-31T04:00:00.000Z', '2026-09-07T03:00:00.000Z', 167],
    ['Asia/Kathmandu', '2026-11-22T18:14:59Z', '2026-11-15T18:15:00.000Z', '2026-11-22T18:15:00.000Z', 168],
    // Friday did not take place.
    ['Pacific/Apia', '2011-12-31T12:00:00Z', '2011-12-26T10:00:00.000Z', '2012-01-01T10:00:00.000Z', 144],
  ])('%s, %s', (zone, moment, start, end, hours) => {
    expect(at(rule('week', zone), moment)).toEqual([start, end, hours]);
  });
});

test.each(['UTC', 'Asia/Kathmandu', 'Australia/Lord_Howe'])(
  'an hour of a budget in %s is a full hour of UTC',
  (zone) => {
    expect(at(rule('hour', zone), '2026-04-04T15:20:00Z')).toEqual([
      '2026-04-04T15:00:00.000Z',
      '2026-04-04T16:00:00.000Z',
      1,
    ]);
  },
);

test('a budget without periods has one that never ends', () => {
  expect(new PeriodTable(rule('total'), 0).at(Date.UTC(2100, 0))).toEqual({ start: 0, end: Infinity });
});

const ZONES = ['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kathmandu', 'Pacific/Apia', 'Australia/Lord_Howe'];
const moments = fc.integer({ min: Date.UTC(2008, 0), max: Date.UTC(2040, 0) });
const rules = fc
  .tuple(
    fc.constantFrom('hour' as const, 'day' as const, 'week' as const, 'month' as const),
    fc.constantFrom(...ZONES),
    fc.integer({ min: 1, max: 28 }),
  )
  .map(([period, zone, day]) => rule(period, zone, day));

test('a period is a function of the rule and the time, whatever the table was made for', () => {
  fc.assert(
    fc.property(rules, moments, moments, (one, moment, other) => {
      const table = new PeriodTable(one, other);
      const { start, end } = table.at(moment);
      expect(start).toBeLessThanOrEqual(moment);
      expect(end).toBeGreaterThan(moment);
      // Every moment of the period has the same period, and the one after its end has the next.
      for (const inside of [start, Math.floor((start + end) / 2), end - 1])
        expect(table.at(inside)).toEqual({ start, end });
      expect(new PeriodTable(one, moment).at(moment)).toEqual({ start, end });
      expect(table.at(end).start).toBe(end);
    }),
    { numRuns: 20 },
  );
});
