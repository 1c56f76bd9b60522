import { describe, expect, test } from 'vitest';
import { Globs } from '../../core/catalog/globs.ts';
import { LABEL_IDLE_MS, OTHER, WorkerLabels, type LabelUse } from '../../core/catalog/model-labels.ts';
import { PoolLabels } from './pool-metrics.ts';

interface Crew {
  readonly workers: readonly WorkerLabels[];
  readonly reported: LabelUse[];
  readonly labelOf: (worker: number, name: string) => string;
  set(now: number): void;
}

/** Workers and their primary, with immediate messages. */
function workersOf(size: number): Crew {
  let now = 0;
  const reported: LabelUse[] = [];
  const primary = new PoolLabels({ now: () => now }, (names) => {
    for (const worker of workers) worker.follow(names);
  });
  const workers: WorkerLabels[] = Array.from(
    { length: size },
    () =>
      new WorkerLabels(
        () => now,
        (use) => {
          reported.push(use);
          primary.receive(use);
        },
      ),
  );
  return {
    workers,
    reported,
    labelOf: (worker, name) => workers[worker]!.labelFor(undefined, name, name),
    set: (moment) => void (now = moment),
  };
}

describe('the labels of workers', () => {
  test('are the same in all workers once a name was answered in one', () => {
    const { workers, labelOf } = workersOf(3);
    expect(workers[1]!.answered('gpt-5', 'a')).toBe(OTHER);
    expect([0, 1, 2].map((worker) => labelOf(worker, 'gpt-5'))).toEqual(['gpt-5', 'gpt-5', 'gpt-5']);
    expect(workers[1]!.answered('gpt-5', 'a')).toBe('gpt-5');
  });

  test('have one limit for all workers, and one for each key', () => {
    const { workers, labelOf, set } = workersOf(4);
    const names = Array.from({ length: 400 }, (_, index) => `gpt-${index}`);
    for (const [index, name] of names.entries()) {
      set(index * 100);
      workers[index % 4]!.answered(name, 'hog');
    }
    for (const worker of [0, 1, 2, 3])
      expect(names.filter((name) => labelOf(worker, name) === name)).toEqual(names.slice(0, 20));
  });

  test('are not reported to the primary for every guess', () => {
    const { workers, reported } = workersOf(1);
    for (let index = 0; index < 5000; index += 1) workers[0]!.answered(`gpt-${index}`, 'hog');
    expect(reported.length).toBe(5);
    for (let index = 0; index < 5000; index += 1) workers[0]!.answered('my secret', 'hog');
    expect(reported.length).toBe(5);
    for (let index = 0; index < 5000; index += 1) workers[0]!.answered(`gpt-${index}`, `key-${index}`);
    expect(reported.length).toBe(200);
  });

  test('are left for a key beside another one that names thousands of models', () => {
    const { workers, labelOf, set } = workersOf(2);
    for (let second = 1; second <= 30; second += 1) {
      set(second * 1000);
      for (const worker of workers)
        for (let index = 0; index < 1000; index += 1) worker.answered(`gpt-${second}-${index}`, 'hog');
    }
    workers[0]!.answered('gpt-5', 'honest');
    expect(labelOf(1, 'gpt-5')).toBe('gpt-5');
  });

  test('last as long as one worker uses them, then disappear in all at once', () => {
    const { workers, labelOf, reported, set } = workersOf(2);
    workers[0]!.answered('gpt-used', 'a');
    workers[0]!.answered('gpt-idle', 'a');
    const before = reported.length;
    const hour = LABEL_IDLE_MS / 24;
    for (let at = 0; at <= 30; at += 0.25) {
      set(at * hour);
      labelOf(1, 'gpt-used');
    }
    expect(reported.length - before).toBe(30);
    // The primary forgets the idle one when it next looks for room.
    workers[0]!.answered('gpt-new', 'a');
    for (const worker of [0, 1])
      expect(['gpt-used', 'gpt-idle', 'gpt-new'].map((name) => labelOf(worker, name))).toEqual([
        'gpt-used',
        OTHER,
        'gpt-new',
      ]);
  });

  test('need no primary for names that the catalog lists', () => {
    const { workers, reported } = workersOf(1);
    expect(workers[0]!.labelFor(new Globs(['house']), 'house', 'house')).toBe('house');
    expect(reported).toEqual([]);
  });
});
