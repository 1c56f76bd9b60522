import { describe, expect, test } from 'vitest';
import { Globs } from './globs.ts';
import { LABEL_IDLE_MS, ModelLabels, OTHER, WorkerLabels, type LabelUse } from './model-labels.ts';
import { PoolLabels } from '../../addons/workers/pool-metrics.ts';

const labelOf = (labels: ModelLabels, name: string): string => labels.labelFor(undefined, name, name);

describe('a name that the catalog lists', () => {
  test('is its own label, whatever its form, before any answer and beyond the limit', () => {
    const labels = new ModelLabels({ max: 0 });
    expect(labels.labelFor(new Globs(['house-model', 'x-*']), 'house-model', 'house-model')).toBe('house-model');
    expect(labels.labelFor(new Globs(['x-*']), 'x-1', 'x-1')).toBe(OTHER);
  });

  test('is compared by the requested name, and the label is the upstream’s', () => {
    const list = new Globs(['anthropic.house-model']);
    expect(new ModelLabels({ max: 0 }).labelFor(list, 'anthropic.house-model', 'house-model')).toBe('house-model');
  });

  test('does not count towards the limit for names that no catalog lists', () => {
    const labels = new ModelLabels({ max: 10 });
    labels.labelFor(new Globs(['gemini-1']), 'gemini-1', 'gemini-1');
    expect(labels.names).toEqual([]);
  });
});

describe('a name that no catalog lists', () => {
  test.each(['gemini-2.5-pro', 'claude-sonnet-4-5@20250929', 'sim-fast', 'gpt-5.1'])(
    '%s becomes a label with its first answer',
    (name) => {
      const labels = new ModelLabels();
      expect(labelOf(labels, name)).toBe(OTHER);
      expect(labels.answered(name, 'a')).toBe(name);
      expect(labelOf(labels, name)).toBe(name);
    },
  );

  test.each(['', 'my secret prompt', 'GEMINI-X', 'gemini', `gemini-${'x'.repeat(65)}`, 'gemini-x"y', 'x-gemini-1'])(
    '%j never becomes a label',
    (name) => {
      const labels = new ModelLabels();
      expect(labels.answered(name, 'a')).toBe(OTHER);
      expect(labelOf(labels, name)).toBe(OTHER);
    },
  );

  test('takes at most a tenth of the labels for one key, which leaves the rest to others', () => {
    const labels = new ModelLabels({ max: 200 });
    const ask = (key: string): number =>
      Array.from({ length: 1000 }, (_, index) => labels.answered(`gemini-${key}-${index}`, key)).filter(
        (label) => label !== OTHER,
      ).length;
    expect(ask('hog')).toBe(20);
    expect(ask('hog')).toBe(20);
    for (let key = 1; key < 10; key += 1) expect(ask(`key${key}`), `key ${key}`).toBe(20);
    expect(ask('late')).toBe(0);
    expect(labels.names).toHaveLength(200);
  });

  test('counts for the key that used it first, whichever key uses it later', () => {
    const labels = new ModelLabels({ max: 10 });
    expect(labels.answered('gpt-5', 'a')).toBe('gpt-5');
    expect(labels.answered('gpt-5', 'b')).toBe('gpt-5');
    expect(labels.answered('gpt-6', 'b')).toBe('gpt-6');
    expect(labels.answered('gpt-7', 'a')).toBe(OTHER);
  });

  test('loses its label after a day without requests, which makes room', () => {
    let now = 0;
    const labels = new ModelLabels({ now: () => now, max: 20 });
    labels.answered('gpt-old', 'a');
    labels.answered('gpt-used', 'a');
    now = LABEL_IDLE_MS - 1;
    expect(labelOf(labels, 'gpt-used')).toBe('gpt-used');
    expect(labels.answered('gpt-new', 'a')).toBe(OTHER);
    now = LABEL_IDLE_MS;
    expect(labelOf(labels, 'gpt-old')).toBe(OTHER);
    expect(labels.answered('gpt-new', 'a')).toBe('gpt-new');
    expect(labels.names.toSorted()).toEqual(['gpt-new', 'gpt-used']);
  });
});

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
