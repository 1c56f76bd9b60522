import { mkdtempSync, rmSync } from 'node:fs';
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
    expect([level.get(1), level.get(4)?.size, level.since]).toEqual([undefined, 1, 20_000]);
    level.add(
      5,
      Array.from({ length: MAX_CELLS + 50 }, (_, index) => cell(`k${index}`)),
    );
    const sizes = [...(level.get(5)?.values() ?? [])].map(({ requests }) => requests);
    expect([sizes.length, Math.max(...sizes)]).toEqual([MAX_CELLS + 1, 50]);
  });
});

describe('statistics', () => {
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
  });
});
