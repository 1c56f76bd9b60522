import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeptResponse, NewResponse } from '../../../core/kernel/index.ts';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { sizeOf } from '../../../core/memory/kept-size.ts';
import { MemoryResponses } from './responses.ts';

const kept = (id: string, chars = 10): NewResponse => {
  const item = `{"id":"msg_${id}"}`;
  const head = `{"id":"${id}","status":"completed","output":[`;
  return {
    id,
    response: Buffer.from(`${head}${item}]}`),
    items: [{ id: `msg_${id}`, from: head.length, to: head.length + item.length }],
    input: Buffer.from(`[${'1'.repeat(chars)}]`),
  };
};

/** The fields that are found of a kept response. */
const found = ({ id, response, input }: NewResponse): KeptResponse => ({ id, response, input });

function start(maxBytes = 1_000_000, ttlMs = 1000) {
  let now = 0;
  const clock = { advance: (ms: number): void => void (now += ms) };
  const store = new MemoryResponses({ ...createFakeClock(), now: () => now });
  store.apply({ maxBytes, ttlMs });
  return { clock, store };
}

describe('kept responses', () => {
  it('are found by their key and unknown to any other, with their items', () => {
    const { store } = start();
    store.keep('a', kept('r1'));
    expect(store.find('a', 'r1')).toEqual(found(kept('r1')));
    expect(store.find('b', 'r1')).toBeUndefined();
    expect(store.findItems('a', ['msg_r1', 'msg_r2'])).toEqual(new Map([['msg_r1', '{"id":"msg_r1"}']]));
    expect(store.findItems('b', ['msg_r1', 'msg_r2'])).toEqual(new Map());
    expect(store.remove('b', 'r1')).toBe(false);
    expect(store.remove('a', 'r1')).toBe(true);
    expect([store.find('a', 'r1'), store.find('b', 'msg_r1')]).toEqual([undefined, undefined]);
  });

  it('are measured with their input, items by themselves or by the response in which they are, and of one key only', () => {
    const { store } = start();
    const whole = kept('r1', 100);
    // Its ids are in the family of the response's, so that its items need no entries.
    const digits = 'a'.repeat(28);
    const family = { ...kept(`resp_${digits}0000`), items: undefined };
    store.keep('a', whole);
    store.keep('a', family);
    const length = whole.response.length + whole.input.length;
    expect(store.measure('a', { response: 'r1', items: [] })).toBe(length);
    expect(store.measure('a', { items: ['msg_r1', 'msg_r2'] })).toBe('{"id":"msg_r1"}'.length);
    expect(store.measure('a', { items: [`msg_${digits}0000`, `msg_${digits}0001`] })).toBe(family.response.length);
    expect(store.measure('b', { response: 'r1', items: ['msg_r1', `msg_${digits}0000`] })).toBe(0);
  });

  it('are each key’s own where two keys have the same id', () => {
    const { store } = start();
    store.keep('a', kept('r1', 1));
    store.keep('b', kept('r1', 2));
    expect(store.find('a', 'r1')).toEqual(found(kept('r1', 1)));
    store.remove('a', 'r1');
    expect(store.find('b', 'r1')).toEqual(found(kept('r1', 2)));
    expect(store.find('a', 'r1')).toBeUndefined();
  });

  it('expire', () => {
    const { clock, store } = start();
    store.keep('a', kept('r1'));
    clock.advance(999);
    expect(store.find('a', 'r1')).toBeDefined();
    clock.advance(1);
    expect(store.find('a', 'r1')).toBeUndefined();
    expect(store.bytes).toBe(0);
  });

  it('of a key that keeps little survive a key that keeps much', () => {
    const { store } = start(10 * sizeOf(kept('r00')));
    store.keep('small', kept('own'));
    for (let at = 10; at < 99; at += 1) store.keep('large', kept(`r${at}`));
    expect(store.find('small', 'own')).toEqual(found(kept('own')));
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
          const held = ['a', 'b', 'c'].flatMap((key) =>
            ['r1', 'r2', 'r3', 'r4', 'r5'].flatMap((name) => {
              const one = store.find(key, name);
              return one ? [sizeOf({ ...one, items: kept(name).items })] : [];
            }),
          );
          expect(store.bytes).toBeGreaterThanOrEqual(held.reduce((sum, size) => sum + size, 0));
          expect(store.bytes).toBeLessThanOrEqual(20_000);
        }
        clock.advance(1000);
        expect(store.find('a', 'r1')).toBeUndefined();
        expect(store.bytes).toBe(0);
      }),
    );
  });
});

describe('items', () => {
  const digits = '0'.repeat(28);
  const text = (at: number): string => `{"id":"msg_${digits}${String(at).padStart(4, '0')}","at":${at}}`;
  const response = (id: string): NewResponse => ({
    id,
    response: Buffer.from(`{"output":[${text(0)},${text(1)}],"id":"${id}","status":"completed"}`),
    items: undefined,
    input: Buffer.from('[]'),
  });

  it('in the family of their response are found although it was kept without them', () => {
    const { store } = start();
    store.keep('a', response(`resp_${digits}abcd`));
    const [first, second, none] = ['0000', '0001', '0002'].map((own) => `msg_${digits}${own}`);
    expect([...store.findItems('a', [first!, second!, none!])]).toEqual([
      [first, text(0)],
      [second, text(1)],
    ]);
    expect([...store.findItems('b', [first!, none!])]).toEqual([]);
  });

  it('of a response that an upstream has given an id of their family are not looked for in it', () => {
    const { store } = start();
    const id = `resp_${digits}abcd`;
    store.keep('a', { ...response(id), items: [] });
    expect(store.find('a', id)).toEqual(found(response(id)));
    expect(store.findItems('a', [`msg_${digits}0000`]).get(`msg_${digits}0000`)).toBeUndefined();
    expect(store.measure('a', { items: [`msg_${digits}0000`] })).toBe(0);
  });

  it('with one id are found as the latest of each key, until its response is gone', () => {
    const { store } = start();
    const of = (id: string, at: number): NewResponse => {
      const [head, first] = [`{"id":"${id}","status":"completed","output":[`, `{"id":"same","at":0}`];
      const last = `{"id":"same","at":${at}}`;
      const from = head.length + first.length + 1;
      return {
        id,
        response: Buffer.from(`${head}${first},${last}]}`),
        input: Buffer.from('[]'),
        items: [
          { id: 'same', from: head.length, to: head.length + first.length },
          { id: 'same', from, to: from + last.length },
        ],
      };
    };
    const same = (key: string): unknown => store.findItems(key, ['same']).get('same');
    store.keep('a', of('r1', 1));
    store.keep('b', of('r1', 2));
    store.keep('a', of('r2', 3));
    expect(['a', 'b', 'c'].map(same)).toEqual(['{"id":"same","at":3}', '{"id":"same","at":2}', undefined]);
    expect(store.measure('a', { items: ['same'] })).toBe('{"id":"same","at":3}'.length);
    store.remove('a', 'r1');
    expect(same('a')).toBe('{"id":"same","at":3}');
    store.remove('a', 'r2');
    expect(same('a')).toBeUndefined();
    store.remove('b', 'r1');
    expect([same('b'), store.bytes]).toEqual([undefined, 0]);
  });

  it('of several responses are told apart, also where thousands were kept and dropped', () => {
    const { store } = start(400_000);
    for (let at = 0; at < 5000; at += 1) store.keep(`key${at % 7}`, kept(`r${at}`));
    const isKept = (at: number): boolean => store.find(`key${at % 7}`, `r${at}`) !== undefined;
    expect(Array.from({ length: 5000 }, (_, at) => at).filter(isKept).length).toBeGreaterThan(100);
    for (let at = 4000; at < 5000; at += 1) {
      const one = store.find(`key${at % 7}`, `r${at}`);
      if (one !== undefined) expect(one).toEqual(found(kept(`r${at}`)));
      expect(store.findItems(`key${at % 7}`, [`msg_r${at}`]).get(`msg_r${at}`)).toBe(one && `{"id":"msg_r${at}"}`);
    }
    expect(store.find('key0', 'r0')).toBeUndefined();
  });
});
