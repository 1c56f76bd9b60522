import { describe, expect, test } from 'vitest';
import { Globs } from './globs.ts';
import { ModelLabels, OTHER } from './model-labels.ts';

describe('ModelLabels', () => {
  test('a name the catalog lists is itself, also when it looks like nothing known and the bound is reached', () => {
    const labels = new ModelLabels(0);
    expect(labels.labelFor(new Globs(['house-model', 'x-*']), 'house-model', 'house-model')).toBe('house-model');
    expect(labels.labelFor(new Globs(['x-*']), 'x-1', 'x-1')).toBe(OTHER);
  });

  test('the list is about the name as asked, the label is the upstream’s', () => {
    const list = new Globs(['anthropic.house-model']);
    expect(new ModelLabels(0).labelFor(list, 'anthropic.house-model', 'house-model')).toBe('house-model');
  });

  test.each(['gemini-2.5-pro', 'claude-sonnet-4-5@20250929', 'sim-fast', 'gpt-5.1'])(
    '%s is known by its shape',
    (name) => {
      expect(new ModelLabels().labelFor(undefined, name, name)).toBe(name);
    },
  );

  test.each(['', 'my secret prompt', 'GEMINI-X', 'gemini', `gemini-${'x'.repeat(65)}`, 'gemini-x"y', 'x-gemini-1'])(
    '%j does not become a label',
    (name) => {
      expect(new ModelLabels().labelFor(undefined, name, name)).toBe(OTHER);
    },
  );

  test('no more than the bound become labels, and those stay', () => {
    const labels = new ModelLabels(200);
    const names = Array.from({ length: 1_000 }, (_, index) => `gemini-${index}`);
    const given = new Set(names.map((name) => labels.labelFor(undefined, name, name)));
    expect(given.size).toBe(201);
    expect(labels.labelFor(undefined, 'gemini-0', 'gemini-0')).toBe('gemini-0');
    expect(labels.labelFor(undefined, 'gemini-999', 'gemini-999')).toBe(OTHER);
  });
});
