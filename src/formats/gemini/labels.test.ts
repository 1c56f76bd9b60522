import { describe, expect, it } from 'vitest';
import { checkLabels } from './labels.ts';

const repeat = (count: number) => 'a'.repeat(count);

describe('cost labels', () => {
  it.each([[{}], [{ team: '' }], [{ é_1: 'x-y_9' }], [{ 部門: '営業' }], [{ [repeat(63)]: repeat(63) }]])(
    '%j is sent as it is',
    (labels) => {
      expect(checkLabels(labels)).toBe(labels);
    },
  );

  it.each([
    [{ Team: 'a' }, 'labels.Team'],
    [{ '1a': 'a' }, 'labels.1a'],
    [{ '': 'a' }, 'labels.'],
    [{ 'a.b': 'a' }, 'labels.a.b'],
    [{ [repeat(64)]: 'a' }, `labels.${repeat(64)}`],
    [{ a: 'A' }, 'labels.a'],
    [{ a: 'a b' }, 'labels.a'],
    [{ a: 1 }, 'labels.a'],
    [{ a: repeat(64) }, 'labels.a'],
    [Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 'v'])), 'labels'],
  ])('%j is refused, never rewritten', (labels, param) => {
    expect(() => checkLabels(labels)).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
  });
});
