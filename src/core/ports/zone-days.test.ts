import { describe, expect, it } from 'vitest';
import { ZoneDays } from './zone-days.ts';

const HOUR = 3_600_000;
const at = (text: string): number => Date.parse(text);

describe('the days of a time zone', () => {
  it.each([
    ['UTC', '2026-11-01', '2026-11-01T00:00Z'],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00Z'],
    ['America/New_York', '2026-11-02', '2026-11-02T05:00Z'],
    ['Pacific/Kiritimati', '2026-11-01', '2026-10-31T10:00Z'],
    // The clocks go from midnight to one: the day begins at 01:00.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00Z'],
    // The zone left out the 30th: it begins with the day after it.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00Z'],
  ])('begin in %s on %s at %s', (zone, date, start) => {
    expect(new Date(new ZoneDays(zone).startOf(at(date))).toISOString()).toBe(new Date(start).toISOString());
  });

  it('have each hour of two years once, in order', () => {
    for (const zone of ['Europe/Berlin', 'America/Santiago', 'Pacific/Auckland']) {
      const days = new ZoneDays(zone);
      let last = 0;
      for (let hour = at('2026-01-01'); hour < at('2028-01-01'); hour += HOUR) {
        const start = days.startOf(days.dateOf(hour));
        expect(start).toBeLessThanOrEqual(hour);
        expect(hour - start).toBeLessThan(25 * HOUR);
        expect(start).toBeGreaterThanOrEqual(last);
        last = start;
      }
    }
  });

  it('are refused where hours of UTC lie in two of them', () => {
    const year = [at('2026-01-01'), at('2027-01-01')] as const;
    expect(new ZoneDays('Asia/Kolkata').brokenOffset(...year)).toBe(330);
    expect(new ZoneDays('Australia/Lord_Howe').brokenOffset(...year)).toBe(630);
    expect(new ZoneDays('Europe/Berlin').brokenOffset(...year)).toBeUndefined();
    expect(() => new ZoneDays('Nowhere')).toThrow(RangeError);
  });
});
