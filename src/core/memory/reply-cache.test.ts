import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CachedReply } from '../kernel/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import type { ReplyStoreSize } from './ports.ts';
import { MemoryReplyStore, MemoryReplyStores } from './reply-cache.ts';

function createStore(maxBytes = 10_000, maxEntryBytes = 5000) {
  const clock = createFakeClock();
  const sizes: ReplyStoreSize[] = [];
  let evictions = 0;
  const store = new MemoryReplyStore({
    clock,
    limits: { maxBytes, maxEntryBytes },
    onChange: (size) => sizes.push(size),
    onEvict: () => (evictions += 1),
  });
  return { clock, store, sizes, evictions: () => evictions };
}

const reply = (bytes: Buffer, parts: Partial<CachedReply> = {}): CachedReply => ({
  status: 200,
  bytes,
  stream: false,
  includeUsage: false,
  usage: undefined,
  contentType: 'application/json',
  losses: [],
  storedAt: 0,
  ...parts,
});

describe('the store of replies', () => {
  it('returns what was stored, byte for byte, and nothing for another key', () => {
    const { store } = createStore();
    const kept = reply(Buffer.from('{"a":1}'), { stream: true, contentType: 'text/event-stream' });
    store.store('k', kept, 1000);
    expect(store.find('k')).toEqual(kept);
    expect(store.find('l')).toBeUndefined();
  });

  it('keeps a copy of the bytes, not the pool or the network read of which they are a slice', () => {
    const { store } = createStore();
    const read = Buffer.alloc(1000, 'x');
    store.store('k', reply(read.subarray(10, 20)), 1000);
    read.fill('y');
    expect(store.find('k')!.bytes.toString()).toBe('x'.repeat(10));
    expect(store.find('k')!.bytes.buffer.byteLength).toBe(10);
  });

  it('can be peeked into without marking replies as used or removing expired ones', async () => {
    const { store, clock, sizes } = createStore(6000);
    for (const key of ['a', 'b']) store.store(key, reply(Buffer.alloc(1000)), 1000);
    expect([store.peek('a')?.bytes.length, store.peek('c')]).toEqual([1000, undefined]);
    store.store('c', reply(Buffer.alloc(1000)), 1000);
    expect([store.peek('a'), store.peek('b')]).toEqual([undefined, expect.anything()]);
    const reported = sizes.length;
    await clock.advance(1000);
    expect([store.peek('b'), store.size.entries, sizes.length]).toEqual([undefined, 2, reported]);
  });

  it('drops a reply when its time is over, counted from its creation', async () => {
    const { store, clock, sizes } = createStore();
    await clock.advance(100);
    store.store('k', reply(Buffer.from('x'), { storedAt: 50 }), 1000);
    await clock.advance(949);
    expect(store.find('k')).toBeDefined();
    await clock.advance(1);
    expect(store.find('k')).toBeUndefined();
    expect(sizes.at(-1)).toEqual({ entries: 0, bytes: 0 });
  });

  it('sets no timers', () => {
    const { store, clock } = createStore();
    store.store('k', reply(Buffer.from('x')), 1000);
    store.find('k');
    expect(clock.started).toBe(0);
  });

  it('evicts the least recently used reply, and counts evictions of replies that had not expired', async () => {
    const { store, clock, evictions } = createStore();
    const large = Buffer.alloc(2000);
    for (const key of ['a', 'b', 'c']) store.store(key, reply(large), 1000);
    store.find('a');
    store.store('d', reply(large), 10_000);
    expect(['a', 'b', 'c', 'd'].map((key) => store.find(key) !== undefined)).toEqual([true, false, true, true]);
    expect(evictions()).toBe(1);
    await clock.advance(5000);
    store.store('e', reply(large, { storedAt: 5000 }), 1000);
    expect(evictions(), 'what had expired is no loss').toBe(1);
  });

  it('replaces a reply under the same key, and counts no eviction', () => {
    const { store, evictions } = createStore();
    store.store('k', reply(Buffer.from('one')), 1000);
    store.store('k', reply(Buffer.from('other')), 1000);
    expect([store.find('k')!.bytes.toString(), store.size.entries, evictions()]).toEqual(['other', 1, 0]);
  });

  it.each([
    ['larger than an entry may be', 10_000, 5001],
    ['larger than the whole store', 3000, 2900],
    ['without any memory', 0, 1],
  ])('does not keep a reply %s', (_, maxBytes, bytes) => {
    const { store } = createStore(maxBytes);
    store.store('k', reply(Buffer.alloc(bytes)), 1000);
    expect([store.find('k'), store.size]).toEqual([undefined, { entries: 0, bytes: 0 }]);
  });

  it('never exceeds its limit', () => {
    const entry = fc.record({ key: fc.stringMatching(/^[a-h]$/), bytes: fc.nat(5000), losses: fc.nat(30) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
        const { store, sizes } = createStore();
        for (const { key, bytes, losses } of entries) {
          const lost = { param: 'p'.repeat(losses), action: 'dropped', reason: 'r' } as const;
          store.store(key, reply(Buffer.alloc(bytes), { losses: Array.from({ length: losses }, () => lost) }), 1000);
        }
        for (const size of sizes) expect(size.bytes).toBeLessThanOrEqual(10_000);
        const held = [...'abcdefgh'].reduce((sum, key) => sum + (store.find(key)?.bytes.length ?? 0), 0);
        expect(held).toBeLessThanOrEqual(store.size.bytes);
      }),
    );
  });
});

describe('the reply store of the process', () => {
  it('is kept while settings keep its bounds, and replaced once settings with other bounds take effect', () => {
    const limits = { maxBytes: 10_000, maxEntryBytes: 1000 };
    const sizes: ReplyStoreSize[] = [];
    const stores = new MemoryReplyStores({ clock: createFakeClock(), onChange: (size) => sizes.push(size) });
    const first = stores.prepare(limits);
    stores.use(first);
    first.store('k', reply(Buffer.from('{}')), 1000);
    expect(sizes.at(-1)).toMatchObject({ entries: 1 });
    expect(stores.prepare({ ...limits })).toBe(first);
    const larger = stores.prepare({ ...limits, maxBytes: 20_000 });
    expect(stores.prepare(limits), 'settings that were refused change nothing').toBe(first);
    stores.use(larger);
    expect([larger.find('k'), sizes.at(-1)]).toEqual([undefined, { entries: 0, bytes: 0 }]);
    first.store('late', reply(Buffer.from('{}')), 1000);
    expect(sizes.at(-1), 'a request that began before does not count any more').toEqual({ entries: 0, bytes: 0 });
  });
});

describe('a store with replies of other gateways', () => {
  it('writes each reply there too, and keeps one that it finds there', async () => {
    const clock = createFakeClock();
    const far = new Map<string, { reply: CachedReply; maxAgeMs: number }>();
    let looked = 0;
    const store = new MemoryReplyStore({
      clock,
      limits: { maxBytes: 10_000, maxEntryBytes: 5000 },
      far: {
        find: (key) => ((looked += 1), far.get(key)),
        store: (key, one, maxAgeMs) => void far.set(key, { reply: one, maxAgeMs }),
      },
    });
    store.store('own', reply(Buffer.from('own')), 1000);
    expect(far.get('own')?.maxAgeMs).toBe(1000);
    far.set('other', { reply: reply(Buffer.from('other')), maxAgeMs: 1000 });
    expect(store.find('other')).toBeUndefined();
    expect((await store.findFar!('other'))?.bytes.toString()).toBe('other');
    expect(store.find('other')?.bytes.toString()).toBe('other');
    expect(await store.findFar!('none')).toBeUndefined();
    expect(looked).toBe(2);
    await clock.advance(1000);
    expect(store.find('other')).toBeUndefined();
  });

  it('has nowhere to look where there are none', () => {
    expect(createStore().store.findFar).toBeUndefined();
  });
});
