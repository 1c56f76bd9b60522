import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { aggregate, render, type FamilySnapshot } from './aggregate.ts';
import { contentTypeFor, createMetrics } from './registry.ts';

const family = (values: FamilySnapshot['values'], more: Partial<FamilySnapshot> = {}): FamilySnapshot => ({
  name: 'm',
  help: 'help',
  type: 'gauge',
  aggregator: 'sum',
  values,
  ...more,
});
const one = (value: number, more: Partial<FamilySnapshot> = {}) => [family([{ labels: {}, value }], more)];
const valuesOf = (families: readonly FamilySnapshot[]) => families.flatMap(({ values }) => values);

describe('aggregate', () => {
  it.each([
    { aggregator: 'sum', values: [1, 2, 4], result: 7 },
    { aggregator: 'min', values: [3, 1, 2], result: 1 },
    { aggregator: 'max', values: [3, 1, 2], result: 3 },
    { aggregator: 'first', values: [5, 6], result: 5 },
    { aggregator: 'average', values: [1, 2], result: 1.5 },
    { aggregator: 'primary', values: [4], result: 4 },
  ])('computes the $aggregator of $values', ({ aggregator, values, result }) => {
    const reported = aggregate(values.map((value) => one(value, { aggregator })));
    expect(valuesOf(reported)).toEqual([{ labels: {}, value: result }]);
  });

  it('has no sum above the most that a number counts exactly, whatever the processes have', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const [dead] = [aggregate([one(most), one(most), one(7)])];
    expect(valuesOf(dead)).toEqual([{ labels: {}, value: most }]);
    expect(valuesOf(aggregate([one(1), dead]))).toEqual([{ labels: {}, value: most }]);
  });

  it('drops metrics with the aggregator omit', () => {
    expect(aggregate([one(1, { aggregator: 'omit' }), one(2, { aggregator: 'omit' })])).toEqual([]);
  });

  it('separates label sets and the series of a histogram, even within one process', () => {
    const a = [family([{ labels: { x: '1', le: 1 }, value: 1, metricName: 'm_bucket' }])];
    const b = [
      family([
        { labels: { x: '1', le: 1 }, value: 2, metricName: 'm_bucket' },
        { labels: { x: '1' }, value: 5, metricName: 'm_sum' },
        { labels: { x: '2' }, value: 9, metricName: 'm_sum' },
      ]),
    ];
    expect(valuesOf(aggregate([a, b]))).toEqual([
      { labels: { x: '1', le: 1 }, value: 3, metricName: 'm_bucket' },
      { labels: { x: '1' }, value: 5, metricName: 'm_sum' },
      { labels: { x: '2' }, value: 9, metricName: 'm_sum' },
    ]);
  });

  it('gives the same sum for any order and grouping of the processes', () => {
    const seconds = fc.double({ min: 0, max: 1e8, noNaN: true });
    fc.assert(
      fc.property(fc.array(seconds, { minLength: 2, maxLength: 8 }), fc.nat(), (values, at) => {
        const processes = values.map((value) => one(value));
        const split = at % values.length;
        const dead = aggregate(processes.slice(0, split));
        const later = aggregate([...processes.slice(split).toReversed(), dead]);
        expect(valuesOf(later)).toEqual(valuesOf(aggregate(processes)));
      }),
    );
  });
});

describe('render', () => {
  it.each(['text/plain', 'application/openmetrics-text'])(
    'renders two processes in %s as one process renders itself',
    async (accept) => {
      const create = () =>
        createMetrics({
          clock: createFakeClock(),
          build: { version: '1', revision: 'r' },
          process: false,
        });
      const [alone, a, b] = [create(), create(), create()];
      for (const [metrics, seconds] of [
        [a, 0.25],
        [b, 2],
      ] as const) {
        const labels = { route: '/v1/chat/completions', status_class: '2xx', stream: 'true' };
        for (const { families } of [alone, metrics]) {
          families.requests.add({ ...labels, cache: '' });
          families.requestDuration.add(labels, seconds);
        }
      }
      const snapshots = [await a.snapshot('all'), await b.snapshot('all')];
      const text = () => render(aggregate(snapshots), contentTypeFor(accept));
      const expected = (await alone.scrape(accept)).text;
      expect(await text()).toBe(expected);
      // Rendering OpenMetrics renames counters.
      expect(await text()).toBe(expected);
    },
  );
});

describe('a snapshot', () => {
  it('of cumulative metrics collects only counters and histograms', async () => {
    const metrics = createMetrics({
      clock: createFakeClock(),
      build: { version: '1', revision: 'r' },
    });
    const cumulative = await metrics.snapshot('cumulative');
    expect(new Set(cumulative.map(({ type }) => type))).toEqual(new Set(['counter', 'histogram']));
    expect(cumulative.map(({ name }) => name)).toContain('process_cpu_seconds_total');
    const names = (await metrics.snapshot('all')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(cumulative.map(({ name }) => name)));
    expect(names).toContain('nodejs_eventloop_lag_p99_seconds');
  });
});
