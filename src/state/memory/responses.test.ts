import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeptResponse } from '../../plugin/index.ts';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { MemoryResponses, sizeOf } from './responses.ts';

const kept = (id: string, chars = 10): KeptResponse => {
  const item = `{"id":"msg_${id}"}`;
  return {
    id,
    response: Buffer.from(`{"output":[${item}]}`),
    output: { from: 10, to: 12 + item.length },
    items: [{ id: `msg_${id}`, from: 11, to: 11 + item.length }],
    input: Buffer.from(`[${'1'.repeat(chars)}]`),
  };
};

function start(maxBytes = 1_000_000, ttlMs = 1000) {
  let now = 0;
  const clock = { advance: (ms: number): void => void (now += ms) };
  const store = new MemoryResponses({ ...createFakeClock(), now: () => now });
  store.apply({ maxBytes, ttlMs });
  return { clock, store };
}

describe('kept responses', () => {
  it('are found by their key, and foreign to any other, with their items', () => {
    const { store } = start();
    store.keep('a', kept('r1'));
    expect(store.find('a', 'r1')).toEqual(kept('r1'));
    expect(store.find('b', 'r1')).toBe('foreign');
    expect(store.find('b', 'r2')).toBeUndefined();
    expect(store.findItems('a', ['msg_r1', 'msg_r2'])).toEqual(
      new Map([
        ['msg_r1', '{"id":"msg_r1"}'],
        ['msg_r2', undefined],
      ]),
    );
    expect(store.findItems('b', ['msg_r1']).get('msg_r1')).toBe('foreign');
    expect(store.remove('b', 'r1')).toBe(false);
    expect(store.remove('a', 'r1')).toBe(true);
    expect([store.find('a', 'r1'), store.find('b', 'msg_r1')]).toEqual([undefined, undefined]);
  });

  it('are each key’s own where two keys have the same id', () => {
    const { store } = start();
    store.keep('a', kept('r1', 1));
    store.keep('b', kept('r1', 2));
    expect(store.find('a', 'r1')).toEqual(kept('r1', 1));
    store.remove('a', 'r1');
    expect(store.find('b', 'r1')).toEqual(kept('r1', 2));
    expect(store.find('a', 'r1')).toBe('foreign');
  });

  it('expire', () => {
    const { clock, store } = start();
    store.keep('a', kept('r1'));
    clock.advance(999);
    expect(store.find('a', 'r1')).toBeDefined();
    clock.advance(1);
    expect(store.find('a', 'r1')).toBeUndefined();
    expect(store.size).toEqual({ entries: 0, bytes: 0 });
  });

  it('of a key that keeps little survive a key that keeps much', () => {
    const { store } = start(10 * sizeOf(kept('r00')));
    store.keep('small', kept('own'));
    for (let at = 10; at < 99; at += 1) store.keep('large', kept(`r${at}`));
    expect(store.find('small', 'own')).toEqual(kept('own'));
    expect(store.find('large', 'r98')).toBeDefined();
    expect(store.find('large', 'r10')).toBeUndefined();
  });

  it('count what they hold, never more than the bound, and nothing when all are gone', () => {
    const step = fc.record({
      act: fc.constantFrom('keep', 'remove', 'wait'),
      owner: fc.constantFrom('a', 'b', 'c'),
      id: fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5'),
      chars: fc.nat(2000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { clock, store } = start(20_000);
        for (const { act, owner, id, chars } of steps) {
          if (act === 'keep') store.keep(owner, kept(id, chars));
          else if (act === 'remove') store.remove(owner, id);
          else clock.advance(chars / 4);
          const held = ['a', 'b', 'c'].flatMap((one) =>
            ['r1', 'r2', 'r3', 'r4', 'r5'].flatMap((name) => {
              const found = store.find(one, name);
              return found && found !== 'foreign' ? [sizeOf(found)] : [];
            }),
          );
          expect(store.size.entries).toBe(held.length);
          expect(store.size.bytes).toBeGreaterThanOrEqual(held.reduce((sum, size) => sum + size, 0));
          expect(store.size.bytes).toBeLessThanOrEqual(20_000);
        }
        clock.advance(1000);
        expect(store.find('a', 'r1')).toBeUndefined();
        expect(store.size).toEqual({ entries: 0, bytes: 0 });
      }),
    );
  });
});
