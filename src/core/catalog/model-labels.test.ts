import { describe, expect, test } from 'vitest';
import { Globs } from './globs.ts';
import { LABEL_IDLE_MS, ModelLabels, OTHER } from './model-labels.ts';

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
