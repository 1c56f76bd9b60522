import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FamilySnapshot } from '../../telemetry/aggregate.ts';
import { CrewMetrics } from './crew-metrics.ts';

const family = (name: string, value: number, more: Partial<FamilySnapshot> = {}): FamilySnapshot => ({
  name,
  help: 'help',
  type: 'counter',
  aggregator: 'sum',
  values: [{ labels: {}, value }],
  ...more,
});
const crewOf = (own: readonly FamilySnapshot[] = []) => new CrewMetrics({ snapshot: () => Promise.resolve(own) });
const valueOf = async (crew: CrewMetrics, name: string): Promise<number | undefined> => {
  const { text } = await crew.scrape(undefined);
  const found = new RegExp(`^${name} (.+)$`, 'm').exec(text);
  return found ? Number(found[1]) : undefined;
};

describe('the metrics of several processes', () => {
  it('never go back, whoever tells, dies or comes', async () => {
    const step = fc.record({
      worker: fc.integer({ min: 0, max: 3 }),
      add: fc.double({ min: 0, max: 1e6, noNaN: true }),
      doing: fc.constantFrom('tell', 'answer', 'die'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const crew = crewOf([family('m_total', 0)]);
        const living = new Map([0, 1, 2, 3].map((place) => [place, { id: place, count: 0 }]));
        let nextId = 4;
        let last = 0;
        for (const { worker, add, doing } of steps) {
          const one = living.get(worker)!;
          one.count += add;
          if (doing === 'die') {
            crew.ended(one.id);
            living.set(worker, { id: (nextId += 1), count: 0 });
          } else
            crew.heard(one.id, {
              families: [family('m_total', one.count)],
              which: doing === 'tell' ? 'cumulative' : 'all',
            });
          const now = (await valueOf(crew, 'm_total'))!;
          expect(now).toBeGreaterThanOrEqual(last);
          last = now;
        }
      }),
    );
  });

  it('have what a dead worker had told last, but not its gauges', async () => {
    const crew = crewOf();
    const gauge = (value: number) => family('in_flight', value, { type: 'gauge' });
    crew.heard(1, { families: [family('m_total', 5), gauge(3)], which: 'all' });
    crew.heard(2, { families: [family('m_total', 1), gauge(2)], which: 'all' });
    crew.heard(1, { families: [family('m_total', 7)], which: 'cumulative' });
    expect([await valueOf(crew, 'm_total'), await valueOf(crew, 'in_flight')]).toEqual([8, 5]);
    crew.ended(1);
    expect([await valueOf(crew, 'm_total'), await valueOf(crew, 'in_flight')]).toEqual([8, 2]);
  });

  it('count once what every worker does because the primary says so', async () => {
    const crew = crewOf([family('reloads_total', 1, { aggregator: 'primary' })]);
    for (const worker of [1, 2])
      crew.heard(worker, { families: [family('reloads_total', 1, { aggregator: 'primary' })], which: 'all' });
    expect(await valueOf(crew, 'reloads_total')).toBe(1);
    crew.ended(1);
    expect(await valueOf(crew, 'reloads_total')).toBe(1);
  });
});
