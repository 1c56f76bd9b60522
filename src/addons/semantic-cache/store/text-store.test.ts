import { describe, expect, it } from 'vitest';
import type { TextFacts } from '../../../core/kernel/index.ts';
import { MemoryTextStore } from './text-store.ts';

const facts: TextFacts = { numbers: '', polarity: '', names: '', words: '' };
const LIMITS = { maxBytes: 1_000_000, scopeBytes: 500_000, scopeEntries: 100 };
const place = (scope: string, group = 'g') => ({ scope, group });
const unit = (...values: readonly number[]): Float32Array => Float32Array.from(values);

function createStore(limits: Partial<typeof LIMITS> = {}) {
  const store = new MemoryTextStore({ ...LIMITS, ...limits });
  const add = (key: string, scope = 'a', vector?: Float32Array, group?: string): void =>
    store.add(place(scope, group), { key, facts, text: `text of ${key}` }, vector);
  const keys = (scope = 'a', group?: string): readonly string[] =>
    store.texts(place(scope, group)).map(({ key }) => key);
  return { store, add, keys };
}

describe('stored texts', () => {
  it('are those of one group of one scope', () => {
    const { add, keys } = createStore();
    add('1');
    add('2', 'b');
    add('3', 'a', undefined, 'other');
    expect([keys(), keys('b'), keys('a', 'other'), keys('c')]).toEqual([['1'], ['2'], ['3'], []]);
  });

  it('give up their text for their vector', () => {
    const { store, add } = createStore();
    add('1');
    const [kept] = store.texts(place('a'));
    expect([kept!.text, store.vectorOf(kept!), store.similarity(kept!, unit(1, 0))]).toEqual([
      'text of 1',
      undefined,
      undefined,
    ]);
    store.keepVector(kept!, unit(0.6, 0.8));
    expect(kept!.text).toBeUndefined();
    expect(store.similarity(kept!, unit(1, 0))).toBeCloseTo(0.6, 6);
    expect(store.vectorOf(kept!)).toEqual(unit(0.6, 0.8));
  });

  it('of one key replace each other', () => {
    const { store, add, keys } = createStore();
    add('1', 'a', unit(1, 0));
    const [old] = store.texts(place('a'));
    add('1', 'a', unit(0, 1));
    expect([keys(), store.similarity(old!, unit(1, 0))]).toEqual([['1'], undefined]);
  });

  it('whose model makes vectors of another length now are forgotten', () => {
    const { store, add, keys } = createStore();
    add('1', 'a', unit(1, 0));
    add('2');
    add('3', 'a', unit(1, 0, 0));
    expect(keys()).toEqual(['2', '3']);
    expect(store.texts(place('a')).map((kept) => store.similarity(kept, unit(1, 0, 0)))).toEqual([undefined, 1]);
  });
});

describe('a full scope', () => {
  it('evicts its least recently used text, and none of another scope', () => {
    const { store, add, keys } = createStore({ scopeEntries: 2 });
    add('0', 'b');
    add('1');
    add('2');
    store.use(store.texts(place('a'))[0]!);
    add('3');
    expect([keys(), keys('b')]).toEqual([['1', '3'], ['0']]);
  });

  it('evicts by bytes of vectors', () => {
    const { add, keys, store } = createStore({ scopeBytes: 40_000 });
    for (let key = 0; key < 20; key += 1) add(String(key), 'a', new Float32Array(1_000).fill(0.1));
    expect(keys().at(-1)).toBe('19');
    expect(keys().length).toBeLessThan(8);
    expect(store.size.bytes).toBeLessThanOrEqual(40_000);
  });

  it('keeps nothing that is larger than itself', () => {
    const { add, keys, store } = createStore({ scopeBytes: 1_500 });
    add('1', 'a', new Float32Array(1_000).fill(0.1));
    expect([keys(), store.size]).toEqual([[], { entries: 0, bytes: 0 }]);
  });
});

describe('all scopes together', () => {
  it('evict the least recently used text of all', () => {
    const { add, keys, store } = createStore({ maxBytes: 5_000 });
    add('1', 'a');
    add('2', 'b');
    for (let key = 3; key < 9; key += 1) add(String(key), 'b');
    expect([keys('a'), keys('b').at(-1)]).toEqual([[], '8']);
    expect(store.size.bytes).toBeLessThanOrEqual(5_000);
  });
});

describe('any sequence of changes', () => {
  it('leaves each vector with its own text, and no bytes when all are gone', () => {
    const { store, add } = createStore({ scopeEntries: 30 });
    const vectors = new Map<string, Float32Array>();
    let seed = 7;
    const draw = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const all = () => ['a', 'b'].flatMap((scope) => ['g', 'h'].flatMap((group) => store.texts(place(scope, group))));
    for (let step = 0; step < 3_000; step += 1) {
      const kept = all();
      const one = kept[draw(Math.max(1, kept.length))];
      const key = String(draw(80));
      const vector = unit(...Array.from({ length: 8 }, () => draw(1_000) / 1_000));
      const action = draw(5);
      if (action === 0 && one) store.remove(one);
      else if (action === 1 && one) store.use(one);
      else if (action === 2 && one) {
        if (store.vectorOf(one) === undefined) vectors.set(one.key, vector);
        store.keepVector(one, vector);
      } else {
        const group = Number(key) % 2 === 0 ? 'g' : 'h';
        const scope = Number(key) % 3 === 0 ? 'a' : 'b';
        add(key, scope, action === 3 ? vector : undefined, group);
        if (action === 3) vectors.set(key, vector);
        else vectors.delete(key);
      }
      for (const text of all()) {
        const known = store.vectorOf(text);
        if (known) expect(known).toEqual(vectors.get(text.key));
      }
    }
    expect(all().length).toBeGreaterThan(20);
    for (const text of all()) store.remove(text);
    expect(store.size).toEqual({ entries: 0, bytes: 0 });
  });
});
