import { emptyResource } from '@opentelemetry/resources';
import { DataPointType, type CollectionResult } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { createStillClock, WALL } from '../../core/record/exchange.testkit.ts';
import { CounterFamily, GaugeFamily, HistogramFamily } from '../../core/record/metrics/families.ts';
import { FamilyProducer } from './metric-producer.ts';

const spec = { help: 'Help.', labels: ['route'] } as const;

function open() {
  const clock = createStillClock();
  const ignore = (): void => {};
  const requests = new CounterFamily({ ...spec, type: 'counter', name: 'gatehouse_requests_total' }, ignore);
  const running = new GaugeFamily({ ...spec, type: 'gauge', name: 'gatehouse_running' }, ignore);
  const waits = new HistogramFamily(
    { ...spec, type: 'histogram', name: 'gatehouse_wait_seconds', buckets: [1, 2] },
    ignore,
  );
  let flushed = 0;
  const producer = new FamilyProducer({
    families: () => [requests, running, waits],
    scope: { name: 'gatehouse' },
    resource: emptyResource(),
    flush: () => void (flushed += 1),
    clock,
  });
  return { clock, requests, running, waits, producer, flushes: () => flushed };
}

const metricsOf = ({ resourceMetrics }: CollectionResult) =>
  resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
const secondsAfter = ([seconds]: readonly [number, number]): number => seconds - WALL / 1000;

describe('the metrics that OpenTelemetry reads', () => {
  it('are the values of the series, with their units and without empty labels', async () => {
    const { requests, running, waits, producer, flushes } = open();
    requests.add({ route: '/a' }, 3);
    running.set({ route: '' }, 2);
    for (const value of [0.5, 1.5, 5]) waits.add({ route: '/a' }, value);
    const metrics = metricsOf(await producer.collect());
    expect(metrics).toMatchObject([
      {
        descriptor: { name: 'gatehouse_requests_total', unit: '' },
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: [{ attributes: { route: '/a' }, value: 3 }],
      },
      { dataPointType: DataPointType.GAUGE, dataPoints: [{ attributes: {}, value: 2 }] },
      {
        descriptor: { unit: 's' },
        dataPoints: [{ value: { buckets: { boundaries: [1, 2], counts: [1, 1, 1] }, sum: 7, count: 3 } }],
      },
    ]);
    expect(Object.keys(metrics[1]?.dataPoints[0]?.attributes ?? {})).toEqual([]);
    expect(flushes()).toBe(1);
  });

  it('begin at the export before the first one that has them', async () => {
    const { clock, requests, producer } = open();
    requests.add({ route: '/early' });
    clock.set(10_000);
    await producer.collect();
    requests.add({ route: '/late' });
    clock.set(20_000);
    const [sum] = metricsOf(await producer.collect());
    expect(sum?.dataPoints.map(({ startTime, endTime }) => [startTime, endTime].map(secondsAfter))).toEqual([
      [0, 20],
      [10, 20],
    ]);
  });
});
