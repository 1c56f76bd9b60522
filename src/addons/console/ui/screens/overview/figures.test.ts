import { describe, expect, it } from 'vitest';
import type { ShownEntry, KeyObject, PlotSeries } from '../../api/shapes.ts';
import { firstSteps, tableOf, timesOf, topOf, total, wrongOf } from './figures.ts';

const series = (name: string, requests: number[], errors: number[]): PlotSeries => ({
  name,
  requests,
  errors,
  rescued: [],
  cached: [],
  tokens_in: [],
  tokens_out: [],
  nano: requests.map((one) => one * 1e9),
  unpriced: [],
  p50_ms: [],
  p95_ms: [],
  first_p95_ms: [],
});

describe('the overview', () => {
  const stats = {
    step_s: 60,
    since: '2026-11-28T10:00:00Z',
    points: 2,
    other: null,
    complete_since: null,
    series: [series('a', [1, 2], [0, 0]), series('b', [5, 0], [1, 1])],
  };

  it('adds the steps of a series, and names the highest', () => {
    expect(total(series('a', [1, 2], []), 'requests')).toBe(3);
    expect(topOf(stats, 'requests').map(({ name, requests }) => [name, requests])).toEqual([
      ['b', 5],
      ['a', 3],
    ]);
    expect(topOf(stats, 'errors').map(({ name }) => name)).toEqual(['b']);
    expect(timesOf(stats).map((at) => at - Date.parse(stats.since) / 1000)).toEqual([0, 60]);
  });

  it('has a plot as a table of at most 24 rows whose sums are those of the plot', () => {
    const times = Array.from({ length: 100 }, (_, index) => index);
    const rows = tableOf(times, [times, times.map(() => null)], true);
    expect([rows.length, rows.reduce((sum, { values }) => sum + (values[0] ?? 0), 0)]).toEqual([20, 4950]);
    expect(tableOf(times, [times], false)[0]?.values).toEqual([4]);
  });

  it('says what is wrong now: a refused reload, an open breaker, a key that ends, a budget that is nearly spent, models that retire, a model without a price', () => {
    const wrong = wrongOf(
      {
        settings: {
          hash: '',
          loaded_at: '',
          files: [],
          configs: [],
          warnings: [],
          reload: {
            ok: false,
            at: '',
            diagnostics: [{ file: 'keys.yaml', line: 3, severity: 'error', message: 'bad.' }],
          },
        },
        providers: [
          {
            slug: 's',
            id: 's',
            provider: 'p',
            owner: 'store',
            etag: '',
            spec: {},
            credential: { kind: 'none' },
            models: [],
            targets: [
              { config: 'c', target: 'config.targets[0]', health: [{ state: 'open', last_error: 'timeout' }] },
              { config: 'd', target: 'config', health: [{ state: 'closed', failed: 4, of: 6 }] },
            ],
          },
        ],
        keys: Array.from({ length: 7 }, (_, index) => ({
          id: `k${index}`,
          owner: 'store',
          etag: '',
          updated_by: null,
          updated_at: null,
          spec: { expires_at: index === 0 ? '2026-11-29T00:00:00Z' : '2026-11-30T00:00:00Z' },
          state: 'active' as const,
          credentials: [],
          last_used: null,
        })),
        budgets: [
          {
            id: 'b',
            owner: '',
            etag: '',
            updated_by: null,
            updated_at: null,
            name: '',
            part_of: null,
            node: 'team:x',
            spec: {} as never,
            unit: 'tokens',
            cap: 100,
            period_start: null,
            period_end: null,
            spent: 85,
            leased: null,
            unreconciled: null,
            saturated: false,
          },
        ],
      },
      {
        models: [
          { ...series('m', [9], []), retires: { day: '2027-01-14', past: false, successor: 'n' } },
          { ...series('own-model', [9], []), unpriced: [2, 0, 1] },
          { ...series('old', [2], []), retires: { day: '2026-11-17', past: true, successor: null } },
        ],
        whole: { ...series('', [9, 3], []), errors: [8, 1] },
      },
      Date.parse('2026-11-28T12:00:00Z'),
    );
    expect(wrong.map(({ text }) => text)).toEqual([
      'The last reload was refused: keys.yaml:3: bad.',
      '75 % of the requests have failed.',
      'The breaker of c config.targets[0] (@s) is open: timeout.',
      '4 of the last 6 calls of d to @s failed.',
      'The key k0 ends in 1 day.',
      ...[1, 2, 3, 4].map((index) => `The key k${index} ends in 2 days.`),
      'And 2 more like the last one.',
      'The budget b of team:x is at 85 %.',
      'The model m retires 2027-01-14 and has 45 % of the requests. Its successor is n.',
      'The model old retired on 2026-11-17 and has 10 % of the requests.',
      'The model own-model has no price: the cost of 3 requests is unknown.',
    ]);
  });

  it('ticks a first step once it is done', () =>
    expect(
      firstSteps(1, { providers: [{ provider: 'simulator' } as ShownEntry], keys: [{ id: 'demo' } as KeyObject] }),
    ).toEqual({ send: true, connect: false, key: false }));
});
