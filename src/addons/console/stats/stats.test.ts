import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { bucketOf, emptyCell, percentile, type Cell } from './cells.ts';
import { StatsLevel, MAX_CELLS } from './series.ts';
import { Stats } from './stats.ts';
import { StatsFiles } from './stats-files.ts';

const LOG = { error: () => {} };

const cell = (key: string, requests = 1): Cell =>
  Object.assign(emptyCell(['complete', '', key, '', '', '', '']), { requests });

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-stats-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('percentiles', () => {
  it('are exact to an eighth', () => {
    const buckets: Record<number, number> = {};
    for (let ms = 1; ms <= 1000; ms += 1) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1;
    for (const part of [0.5, 0.95]) {
      const found = percentile(buckets, part)!;
      expect(found / (1000 * part)).toBeGreaterThan(0.99);
      expect(found / (1000 * part)).toBeLessThan(1.13);
    }
    expect(percentile({}, 0.5)).toBeNull();
  });
});

describe('a level of steps', () => {
  it('forgets the oldest step first, and counts values that are too many together', () => {
    const level = new StatsLevel(10, 30);
    for (const step of [1, 2, 3, 4]) level.add(step, [cell('a')]);
    expect([level.get(1), level.get(4)?.size, level.completeSince]).toEqual([undefined, 1, 20_000]);
    level.add(
      5,
      Array.from({ length: MAX_CELLS + 50 }, (_, index) => cell(`k${index}`)),
    );
    const sizes = [...(level.get(5)?.values() ?? [])].map(({ requests }) => requests);
    expect([sizes.length, Math.max(...sizes)]).toEqual([MAX_CELLS + 1, 50]);
  });
});

describe('statistics', () => {
  it('are read from files a line at a time, so that requests are served meanwhile', async () => {
    const [path, clock] = [folder(), createFakeClock()];
    const day = Math.floor(clock.wall() / 86_400_000) * 86_400_000;
    const lines = Array.from({ length: 50 }, (_, index) => JSON.stringify([day + index * 300_000, [cell('a')], 'old']));
    writeFileSync(join(path, `${new Date(day).toISOString().slice(0, 10)}.jsonl`), lines.join('\n'));
    let [turns, reading] = [0, true];
    const count = (): void => {
      turns += 1;
      if (reading) setImmediate(count);
    };
    setImmediate(count);
    const query = { from: day, to: day + 86_400_000, stepSeconds: 300, by: undefined, filters: [] };
    const { series } = await new Stats(clock, new StatsFiles(path, 'new', LOG)).read(query);
    reading = false;
    expect(series[0]?.requests.reduce((a, b) => a + b, 0)).toBe(50);
    expect(turns).toBeGreaterThan(40);
  });

  it('are sums of all processes, and outlive one of them in steps of five minutes', async () => {
    const clock = createFakeClock();
    const path = folder();
    const step = Math.floor(clock.wall() / 10_000);
    const files = new StatsFiles(path, 'one', LOG);
    const stats = new Stats(clock, files);
    stats.add({ step, cells: [cell('a', 2)] });
    stats.add({ step, cells: [cell('a', 3), cell('b')] });
    const query = { from: clock.wall() - 300_000, to: clock.wall() + 10_000, by: 'key', filters: [] } as const;
    const namesOf = async (from: Stats, stepSeconds: number) =>
      (await from.read({ ...query, stepSeconds })).series.map(({ name, requests }) => [
        name,
        requests.reduce((sum, one) => sum + one, 0),
      ]);
    const wanted = [
      ['a', 5],
      ['b', 1],
    ];
    for (const stepSeconds of [10, 60, 300]) expect(await namesOf(stats, stepSeconds)).toEqual(wanted);
    stats.write();
    // Its own lines do not count twice.
    expect(await namesOf(stats, 300)).toEqual(wanted);
    await files.close();
    const later = new Stats(clock, new StatsFiles(path, 'two', LOG));
    later.add({ step, cells: [cell('a', 1)] });
    expect(await namesOf(later, 300)).toEqual([
      ['a', 6],
      ['b', 1],
    ]);
    expect(await namesOf(later, 10)).toEqual([['a', 1]]);
    // Its own steps of ten seconds begin at its start.
    const hour = { ...query, from: clock.wall() - 3_600_000, stepSeconds: undefined };
    const restarted = new Stats({ wall: () => clock.wall() + 60_000 }, new StatsFiles(path, 'three', LOG));
    expect((await restarted.read(hour)).stepSeconds).toBe(300);
    expect((await new Stats(clock, new StatsFiles(folder(), 'two', LOG)).read(hour)).stepSeconds).toBe(10);
  });

  it('have sums of steps of five minutes for a week and a month', async () => {
    const clock = createFakeClock();
    const path = folder();
    const stats = new Stats(clock, new StatsFiles(path, 'one', LOG));
    const [now, day] = [clock.wall(), 86_400_000];
    for (const ago of [30 * day, 6 * day, 6 * day - 300_000, 0])
      stats.add({ step: Math.floor((now - ago) / 10_000), cells: [cell('a')] });
    stats.write();
    const later = new Stats(clock, new StatsFiles(path, 'two', LOG));
    const found = async (days: number, from: Stats) => {
      const query = { from: now - days * day, to: now + 1, stepSeconds: undefined, by: undefined, filters: [] };
      const { stepSeconds, points, series } = await from.read(query);
      const requests = series[0]?.requests ?? [];
      return [
        stepSeconds,
        points <= 600,
        requests.filter((one) => one > 0).length,
        requests.reduce((a, b) => a + b, 0),
      ];
    };
    for (const own of [stats, later])
      expect([await found(7, own), await found(35, own)]).toEqual([
        [1800, true, expect.any(Number), 3],
        [7200, true, expect.any(Number), 4],
      ]);
  });
});
