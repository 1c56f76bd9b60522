import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FamilySnapshot } from '../../core/record/metrics/aggregate.ts';
import { CounterFamily, SERIES_IDLE_MS } from '../../core/record/metrics/families.ts';
import type { MetricSpec } from '../../core/record/metrics/metric-spec.ts';
import { PoolMetrics } from './pool-metrics.ts';
import { runs } from '../../../test/support/effort.ts';

const family = (name: string, value: number, more: Partial<FamilySnapshot> = {}): FamilySnapshot => ({
  name,
  help: 'help',
  type: 'counter',
  aggregator: 'sum',
  values: [{ labels: {}, value }],
  ...more,
});
const metricsOf = (own: readonly FamilySnapshot[] = []) => new PoolMetrics({ snapshot: () => Promise.resolve(own) });
const valueOf = async (metrics: PoolMetrics, name: string): Promise<number | undefined> => {
  const { text } = await metrics.scrape(undefined);
  const found = new RegExp(`^${name} (.+)$`, 'm').exec(text);
  return found ? Number(found[1]) : undefined;
};

describe('the metrics of several processes', () => {
  it('never decrease, in any order of reports, deaths and starts', async () => {
    const step = fc.record({
      worker: fc.integer({ min: 0, max: 3 }),
      add: fc.double({ min: 0, max: 1e6, noNaN: true }),
      doing: fc.constantFrom('report', 'answer', 'die'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const metrics = metricsOf([family('m_total', 0)]);
        const living = new Map([0, 1, 2, 3].map((place) => [place, { id: place, count: 0 }]));
        let nextId = 4;
        let last = 0;
        for (const { worker, add, doing } of steps) {
          const one = living.get(worker)!;
          one.count += add;
          if (doing === 'die') {
            metrics.ended(one.id);
            living.set(worker, { id: (nextId += 1), count: 0 });
          } else
            metrics.receive(one.id, {
              families: [family('m_total', one.count)],
              which: doing === 'report' ? 'cumulative' : 'all',
            });
          const now = (await valueOf(metrics, 'm_total'))!;
          expect(now).toBeGreaterThanOrEqual(last);
          last = now;
        }
      }),
    );
  });

  it('contain the last report of a dead worker without its gauges', async () => {
    const metrics = metricsOf();
    const gauge = (value: number) => family('in_flight', value, { type: 'gauge' });
    metrics.receive(1, { families: [family('m_total', 5), gauge(3)], which: 'all' });
    metrics.receive(2, { families: [family('m_total', 1), gauge(2)], which: 'all' });
    metrics.receive(1, { families: [family('m_total', 7)], which: 'cumulative' });
    expect([await valueOf(metrics, 'm_total'), await valueOf(metrics, 'in_flight')]).toEqual([8, 5]);
    metrics.ended(1);
    expect([await valueOf(metrics, 'm_total'), await valueOf(metrics, 'in_flight')]).toEqual([8, 2]);
  });

  it('count once what all workers do on the primary’s command', async () => {
    const metrics = metricsOf([family('reloads_total', 1, { aggregator: 'primary' })]);
    for (const worker of [1, 2])
      metrics.receive(worker, { families: [family('reloads_total', 1, { aggregator: 'primary' })], which: 'all' });
    expect(await valueOf(metrics, 'reloads_total')).toBe(1);
    metrics.ended(1);
    expect(await valueOf(metrics, 'reloads_total')).toBe(1);
  });
});

describe('a series of several processes', () => {
  const DAY = SERIES_IDLE_MS;
  const SPEC: MetricSpec = { type: 'counter', name: 'm_total', help: 'help', labels: ['a'] };

  /** Workers with their own counters, which report on request, and the exposed values of the series `x`. */
  function start() {
    let now = 0;
    const metrics = new PoolMetrics({ snapshot: async () => [] }, () => now);
    const open = () =>
      new CounterFamily<'a'>(
        SPEC,
        () => {},
        () => now,
      );
    const workers = new Map([1, 2].map((id) => [id, open()]));
    const report = async (id: number) => {
      // As Family passes it to the registry, whose type knows only prom-client's classes.
      const families = [(await workers.get(id)!.get()) as FamilySnapshot];
      metrics.receive(id, { families, which: 'all' });
    };
    return {
      add: (id: number, value: number) => workers.get(id)!.add({ a: 'x' }, value),
      report,
      reportAll: async () => {
        for (const id of workers.keys()) await report(id);
      },
      die(id: number, next: number) {
        metrics.ended(id);
        workers.delete(id);
        workers.set(next, open());
      },
      set: (moment: number) => void (now = moment),
      async value(): Promise<number | undefined> {
        const { text } = await metrics.scrape(undefined);
        const [, found] = /^m_total\{a="x"\} (.+)$/m.exec(text) ?? [];
        return found === undefined ? undefined : Number(found);
      },
    };
  }

  it('does not decrease if one worker has not used it for a day but another has', async () => {
    const { add, reportAll, set, value } = start();
    add(1, 100);
    add(2, 5);
    await reportAll();
    set(DAY - 1);
    add(2, 1);
    await reportAll();
    set(DAY + 1);
    await reportAll();
    expect(await value()).toBe(106);
    add(1, 1);
    await reportAll();
    expect(await value()).toBe(107);
  });

  it('is removed if no worker, dead ones included, has used it for a day, and restarts at 0', async () => {
    const { add, reportAll, die, set, value } = start();
    add(1, 100);
    add(2, 5);
    await reportAll();
    die(1, 3);
    await reportAll();
    expect(await value()).toBe(105);
    set(DAY - 1);
    await reportAll();
    expect(await value()).toBe(105);
    set(DAY);
    await reportAll();
    expect(await value()).toBeUndefined();
    add(3, 2);
    await reportAll();
    expect(await value()).toBe(2);
  });

  it('is complete or absent: it never decreases except to its start', async () => {
    const step = fc.record({
      doing: fc.constantFrom('add', 'add', 'report', 'die', 'wait', 'long wait'),
      worker: fc.integer({ min: 0, max: 1 }),
      amount: fc.integer({ min: 1, max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { add, report, reportAll, die, set, value } = start();
        const ids = [1, 2];
        let [now, next] = [0, 3];
        // The sum of the reports since the series was last absent.
        let last = 0;
        let sinceGone = 0;
        for (const { doing, worker, amount } of steps) {
          const id = ids[worker]!;
          if (doing === 'add') {
            add(id, amount);
            await report(id);
            sinceGone += amount;
          } else if (doing === 'report') await report(id);
          else if (doing === 'die') die(id, (ids[worker] = next++));
          else set((now += doing === 'wait' ? DAY / 5 : DAY));
          if (doing === 'long wait') await reportAll();
          const exposed = await value();
          if (exposed === undefined) sinceGone = 0;
          else {
            expect(exposed).toBe(sinceGone);
            expect(exposed).toBeGreaterThanOrEqual(last);
          }
          last = exposed ?? 0;
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
