import { describe, expect, it } from 'vitest';
import {
  barsOf,
  changeText,
  datesOf,
  dayZone,
  monthAfter,
  monthAt,
  MOST_PARTS,
  nextSplit,
  priceId,
  rowsOf,
  type UsageRow,
} from './figures.ts';

const row = (nano: number, names: Partial<UsageRow> = {}): UsageRow => ({
  start: '2026-11-01T00:00:00Z',
  requests: 2,
  attempts: 2,
  hits: 0,
  input: 10,
  cacheRead: 1,
  cacheWrite5m: 2,
  cacheWrite1h: 3,
  output: 4,
  reasoning: 4,
  inputAudio: 5,
  outputAudio: 6,
  inputImage: 7,
  outputImage: 8,
  units: 0,
  searches: 0,
  nano,
  cost_usd: '',
  saturated: [],
  ms: [],
  first_ms: [],
  ...names,
});

describe('rows of costs', () => {
  it('have the dearest first, what they cost before, and their tokens', () => {
    const now = [row(30, { team: 'a' }), row(60, { team: 'b' }), row(10, { team: 'a' })];
    expect(rowsOf(now, [row(20, { team: 'a' })], 'team')).toEqual([
      { name: 'b', nano: 60, before: undefined, requests: 2, tokens: 46 },
      { name: 'a', nano: 40, before: 20, requests: 4, tokens: 92 },
    ]);
    expect(rowsOf([row(0, { labels: { env: 'prod' } })], [], 'label.env')).toMatchObject([{ name: 'prod', nano: 0 }]);
  });

  it('say how much more or less they cost than before', () => {
    expect([changeText(3, 2), changeText(1, 2), changeText(2, 2), changeText(2, undefined), changeText(0, 0)]).toEqual([
      '+50 %',
      '-50 %',
      '0 %',
      'new',
      '–',
    ]);
  });
});

describe('days', () => {
  it('have a bar each, whose parts add up to it, and say which are those of UTC', () => {
    const days = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].flatMap((team, index) => [
      row(2 ** index, { team, date: '2026-02-03', day: 'zone' }),
      row(1, { team, date: '2026-02-01', day: 'utc' }),
    ]);
    const rows = rowsOf(days, [], 'team');
    const dearest = days.filter(({ team }) => rows.slice(0, MOST_PARTS).some(({ name }) => name === team));
    const bars = barsOf('2026-02', { rows, days, parts: dearest }, 'team');
    expect([bars.length, bars[0]]).toEqual([
      28,
      { date: '2026-02-01', parts: [1, 1, 1, 1, 1, 1, 2], total: 8, isUtc: true },
    ]);
    expect(bars[2]).toEqual({ date: '2026-02-03', parts: [128, 64, 32, 16, 8, 4, 3], total: 255, isUtc: false });
    expect(bars[1]).toMatchObject({ total: 0, isUtc: false });
  });

  it('are those of a month', () => {
    expect([datesOf('2028-02').length, datesOf('2026-12').at(-1)]).toEqual([29, '2026-12-31']);
    expect([monthAfter('2026-12', 1), monthAfter('2026-01', -1)]).toEqual(['2027-01', '2025-12']);
    expect(monthAt(Date.UTC(2026, 10, 1, 3), 'America/New_York')).toBe('2026-10');
  });

  it('are those of UTC where a zone is between whole hours', () => {
    expect(dayZone('local', 'Asia/Kolkata', [-330, -330])).toBe('UTC');
    expect(dayZone('local', 'Australia/Lord_Howe', [-660, -630])).toBe('UTC');
    expect([dayZone('local', 'Europe/Berlin', [-60, -120]), dayZone('UTC', 'Europe/Berlin', [-60])]).toEqual([
      'Europe/Berlin',
      'UTC',
    ]);
  });
});

it('A split leads to the next one', () => {
  expect([nextSplit('team'), nextSplit('label.env'), nextSplit('model')]).toEqual(['key', 'team', undefined]);
});

it('A price has an id of its entry and model', () => {
  expect(priceId('vertex', 'publishers/acme/models/x@1')).toBe('vertex-publishers-acme-models-x-1');
  expect(priceId('', '.m')).toBe('m');
  expect(priceId('a', 'b'.repeat(100))).toHaveLength(64);
});
