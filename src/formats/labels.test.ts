import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from './contexts.testkit.ts';
import { addDerived, checkLabels, labelHeader } from './labels.ts';
import { LossReport } from './losses/losses.ts';

const repeat = (count: number) => 'a'.repeat(count);

describe('cost labels', () => {
  it.each([[{}], [{ team: '' }], [{ é_1: 'x-y_9' }], [{ 部門: '営業' }], [{ [repeat(63)]: repeat(63) }]])(
    '%j is sent unchanged',
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

function add(explicit: Record<string, string>, derived: Record<string, string>, bound: readonly string[] = []) {
  const losses = new LossReport();
  const sources = { labels: deepFreeze(derived), boundLabels: new Set(bound) };
  const labels = addDerived(deepFreeze(explicit), sources, losses);
  return { labels, lost: losses.list().map(({ action, param }) => `${action} ${param}`) };
}

describe('labels derived from metadata', () => {
  it.each<[string, string, string, string]>([
    ['Team', 'Search', 'team', 'search'],
    ['user.id', 'a b/c', 'user_id', 'a_b_c'],
    ['1st', '1st', 'k_1st', '1st'],
    ['_x', '_x', 'k__x', '_x'],
    ['-', '', 'k_-', ''],
    ['__proto__', 'p', 'k___proto__', 'p'],
    ['部門', '営業', '部門', '営業'],
    ['ÉTÉ', 'ÉTÉ', 'été', 'été'],
    // A letter that is not lowercase even after lowercasing, and a mark that lowercasing creates.
    ['\u{1D400}b', 'İ', 'k__b', 'i_'],
    ['x👋', '👋', 'x_', '_'],
    [repeat(70), repeat(70), repeat(63), repeat(63)],
    [`1${repeat(70)}`, '𠮷'.repeat(70), `k_1${repeat(60)}`, '𠮷'.repeat(63)],
  ])('%j: %j becomes %j: %j', (name, value, key, text) => {
    expect(add({}, { [name]: value })).toEqual({ labels: { [key]: text }, lost: [] });
  });

  it('from the metadata of the key replace the labels of the body, and the replaced ones are losses', () => {
    const derived = { Team: 'search', env: 'prod' };
    expect(add({ team: 'ads', env: 'dev', own: 'x' }, derived, ['Team'])).toEqual({
      labels: { team: 'search', env: 'dev', own: 'x' },
      lost: ['dropped labels.team'],
    });
    expect(add({ team: 'search' }, derived, ['Team'])).toEqual({ labels: { team: 'search', env: 'prod' }, lost: [] });
  });

  it('collide with the first of their names in sorted order, whatever the order they came in', () => {
    const lost = ['dropped metadata.a b', 'dropped metadata.a_b'];
    for (const names of [
      ['A b', 'a b', 'a_b'],
      ['a_b', 'a b', 'A b'],
    ]) {
      const derived = Object.fromEntries(names.map((name) => [name, name.replaceAll(/\W/g, '')]));
      expect(add({}, derived)).toEqual({ labels: { a_b: 'ab' }, lost });
    }
  });

  it('are dropped when the caller has a label of that key, or 64 labels', () => {
    expect(add({ team: 'mine' }, { Team: 'derived' })).toEqual({ labels: { team: 'mine' }, lost: [] });
    const full = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`k${index}`, 'v']));
    expect(add(full, { team: 'a', k1: 'b' })).toEqual({ labels: full, lost: ['dropped metadata.team'] });
  });

  const name = fc.oneof(fc.string({ maxLength: 8, unit: 'binary' }), fc.string({ maxLength: 80, unit: 'grapheme' }));
  const derived = fc.dictionary(name, name, { maxKeys: 90, size: 'max' });
  const explicit = derived.map((pairs) => {
    const { labels } = add({}, pairs);
    return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
  });

  it('always pass the check, beside explicit ones that stay as they are', () => {
    fc.assert(
      fc.property(explicit, derived, (own, pairs) => {
        const { labels, lost } = add(own, pairs);
        expect(checkLabels(labels)).toBe(labels);
        expect(Object.entries(labels).slice(0, Object.keys(own).length)).toEqual(Object.entries(own));
        expect(labels).toMatchObject(own);
        expect(Object.keys(labels).length + lost.length).toBeGreaterThanOrEqual(Object.keys(own).length);
      }),
    );
  });

  it('are rewritten to a form that a second rewrite keeps', () => {
    fc.assert(
      fc.property(explicit, (labels) => {
        expect(add({}, labels)).toEqual({ labels, lost: [] });
      }),
    );
  });

  it('are each sent, lost by name, or overruled', () => {
    fc.assert(
      fc.property(derived, (pairs) => {
        const { labels, lost } = add({}, pairs);
        expect(Object.keys(labels).length + lost.length).toBe(Object.keys(pairs).length);
      }),
    );
  });
});

describe('the header of labels for partner models', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
  const target = { host: 'vertex', labelHeader: true } as const;

  it('holds 32 labels, and refuses more', () => {
    const header = labelHeader(many(32), target, new LossReport());
    expect(JSON.parse(Buffer.from(header!['x-vertex-ai-labels']!, 'base64').toString())).toEqual(many(32));
    expect(() => labelHeader(many(33), target, new LossReport())).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'labels' }),
    );
  });

  it('takes 32 labels of the metadata, and reports the others', () => {
    const losses = new LossReport();
    const header = labelHeader({ own: 'x' }, { ...target, labels: many(33) }, losses);
    expect(
      Object.keys(JSON.parse(Buffer.from(header!['x-vertex-ai-labels']!, 'base64').toString()) as object),
    ).toHaveLength(32);
    expect(losses.list()).toMatchObject([{ action: 'dropped' }, { action: 'dropped' }]);
  });
});
