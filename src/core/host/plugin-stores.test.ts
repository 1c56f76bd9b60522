import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { enterStores, leaveStores, PluginStores, type StoresByPlugin } from './plugin-stores.ts';

const cacheOf = (options: { maxBytes?: number; maxEntries?: number; ttl?: number } = {}) => {
  const clock = createFakeClock();
  return { clock, cache: new PluginStores(clock).cache<string>({ maxBytes: 10_000, ttl: 1000, ...options }) };
};

describe('the cache of a plugin', () => {
  it('keeps a value for its time', async () => {
    const { clock, cache } = cacheOf();
    expect([cache.set('a', 'one'), cache.set('b', 'two', 10), cache.get('a')]).toEqual([true, true, 'one']);
    await clock.advance(10);
    expect([cache.get('a'), cache.get('b')]).toEqual(['one', undefined]);
    await clock.advance(990);
    expect(cache.get('a')).toBeUndefined();
  });

  it('drops the least recently used entry for a new one, by number and by bytes', () => {
    const { cache } = cacheOf({ maxEntries: 2 });
    for (const key of ['a', 'b']) cache.set(key, key);
    cache.get('a');
    cache.set('c', 'c');
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c']);
    const { cache: small } = cacheOf({ maxBytes: 700 });
    for (const key of ['a', 'b', 'c']) small.set(key, 'x'.repeat(100));
    expect(['a', 'b', 'c'].map((key) => small.get(key) !== undefined)).toEqual([false, true, true]);
  });

  it('says that it does not keep a value that is larger than itself', () => {
    const { cache } = cacheOf({ maxBytes: 300 });
    cache.set('a', 'old');
    expect([cache.set('a', 'x'.repeat(200)), cache.get('a')]).toEqual([false, undefined]);
  });

  it('counts a Buffer in an object by its bytes', () => {
    const cache = new PluginStores(createFakeClock()).cache<object>({ maxBytes: 1000, ttl: 1000 });
    expect([800, 900].map((length) => cache.set('a', { body: Buffer.alloc(length) }))).toEqual([true, false]);
  });

  it('has bounds above 0', () => {
    for (const wrong of [{ maxBytes: 0 }, { ttl: -1 }, { maxEntries: NaN }])
      expect(() => cacheOf(wrong)).toThrow('are above 0');
  });
});

describe('the counters of a plugin', () => {
  it('count by name, and begin anew after their window', async () => {
    const clock = createFakeClock();
    const { counters } = new PluginStores(clock);
    expect([counters.add('a'), counters.add('a', 2), counters.get('b')]).toEqual([1, 3, 0]);
    counters.add('w', 5, 100);
    await clock.advance(99);
    expect(counters.add('w', 1, 100)).toBe(6);
    await clock.advance(1);
    expect([counters.get('w'), counters.add('w', 1, 100), counters.get('a')]).toEqual([0, 1, 3]);
    counters.reset('a');
    expect(counters.get('a')).toBe(0);
    expect(() => counters.add('a', NaN)).toThrow('cannot count NaN');
  });

  it('are at most 10,000', () => {
    const { counters } = new PluginStores(createFakeClock());
    for (let index = 0; index <= 10_000; index += 1) counters.add(String(index));
    expect([counters.get('0'), counters.get('1'), counters.get('10000')]).toEqual([0, 1, 1]);
  });
});

describe('the stores of plugins', () => {
  it('stay for the next host of the name while one is there, with the bounds of the newest', () => {
    const clock = createFakeClock();
    const all: StoresByPlugin = new Map();
    const options = { maxBytes: 10_000, ttl: 1000 };
    enterStores(all, 'mask');
    const first = PluginStores.of(all, 'mask', clock);
    first.cache<string>(options).set('a', 'one');
    enterStores(all, 'mask');
    leaveStores(all, 'mask');
    const second = PluginStores.of(all, 'mask', clock);
    expect([second === first, second.cache(options).get('a')]).toEqual([true, 'one']);
    expect(second.cache({ ...options, maxBytes: 50 }).get('a')).toBeUndefined();
    leaveStores(all, 'mask');
    expect(all.size).toBe(0);
  });
});
