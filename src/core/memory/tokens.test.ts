import { describe, expect, test } from 'vitest';
import { ManualClock } from './tokens.testkit.ts';
import type { MintedToken } from './ports.ts';
import { MemoryTokenStore } from './tokens.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** A token endpoint that the test controls: each call waits until it is answered. */
class Endpoint {
  calls = 0;
  #waiting: { resolve: (token: MintedToken) => void; reject: (error: Error) => void }[] = [];

  readonly mint = (): Promise<MintedToken> => {
    this.calls += 1;
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  };

  async answer(value: string, expiresInMs = HOUR): Promise<void> {
    await Promise.resolve();
    for (const { resolve } of this.#waiting.splice(0)) resolve({ value, expiresInMs });
    await settled();
  }

  async fail(message: string): Promise<void> {
    await Promise.resolve();
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(message));
    await settled();
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

function setup(options?: ConstructorParameters<typeof MemoryTokenStore>[1]) {
  const clock = new ManualClock();
  const store = new MemoryTokenStore(clock, options);
  const endpoint = new Endpoint();
  const get = (key = 'a') => store.get(key, endpoint.mint);
  const hold = async (value: string, expiresInMs = HOUR) => {
    const got = get();
    await endpoint.answer(value, expiresInMs);
    await got;
  };
  return { clock, store, endpoint, get, hold };
}

describe('MemoryTokenStore', () => {
  test('makes one token call for 200 concurrent callers', async () => {
    const { endpoint, get } = setup();
    const tokens = Promise.all(Array.from({ length: 200 }, () => get()));
    await endpoint.answer('t1');
    expect(new Set(await tokens)).toEqual(new Set(['t1']));
    expect(endpoint.calls).toBe(1);
  });

  test('gives a held token without a promise', async () => {
    const { hold, get, endpoint } = setup();
    await hold('t1');
    expect(get()).toBe('t1');
    expect(endpoint.calls).toBe(1);
  });

  test('keeps tokens of different credentials apart', async () => {
    const { get, endpoint } = setup();
    const one = get('a');
    await endpoint.answer('for-a');
    const two = get('b');
    await endpoint.answer('for-b');
    expect([await one, await two]).toEqual(['for-a', 'for-b']);
  });

  test('refreshes in the background when less than five minutes remain, while callers keep the old token', async () => {
    const { clock, hold, get, endpoint } = setup();
    await hold('t1');
    clock.advance(HOUR - 5 * MINUTE - 1);
    expect(get()).toBe('t1');
    expect(endpoint.calls).toBe(1);
    clock.advance(1);
    expect([get(), get(), get()]).toEqual(['t1', 't1', 't1']);
    await endpoint.answer('t2');
    expect(endpoint.calls).toBe(2);
    expect(get()).toBe('t2');
  });

  test('waits for the new token when less than a minute remains', async () => {
    const { clock, hold, get, endpoint } = setup();
    await hold('t1');
    clock.advance(HOUR - MINUTE);
    const waiting = get();
    expect(waiting).toBeInstanceOf(Promise);
    await endpoint.answer('t2');
    expect(await waiting).toBe('t2');
  });

  test('uses the last minute of a token while the endpoint fails, and no more than that', async () => {
    const { clock, hold, get, endpoint } = setup();
    await hold('t1');
    clock.advance(HOUR - MINUTE);
    const inLastMinute = get();
    await endpoint.fail('down');
    expect(await inLastMinute).toBe('t1');
    clock.advance(MINUTE);
    const after = Promise.resolve(get());
    after.catch(() => {});
    await endpoint.fail('still down');
    await expect(after).rejects.toThrow('still down');
  });

  test('calls a failing endpoint again only after a second', async () => {
    const { clock, get, endpoint } = setup();
    const first = Promise.resolve(get());
    first.catch(() => {});
    await endpoint.fail('invalid_grant');
    await expect(first).rejects.toThrow('invalid_grant');
    await expect(get()).rejects.toThrow('invalid_grant');
    expect(endpoint.calls).toBe(1);
    clock.advance(1_000);
    const second = get();
    await endpoint.answer('t1');
    expect(await second).toBe('t1');
    expect(endpoint.calls).toBe(2);
  });

  test('does not call the endpoint for ten seconds after a failed background refresh', async () => {
    const { clock, hold, get, endpoint } = setup();
    await hold('t1');
    clock.advance(HOUR - 4 * MINUTE);
    void get();
    await endpoint.fail('down');
    clock.advance(9_999);
    expect(get()).toBe('t1');
    expect(endpoint.calls).toBe(2);
    clock.advance(1);
    expect(get()).toBe('t1');
    await settled();
    expect(endpoint.calls).toBe(3);
  });

  test('a token that lives for a minute is used for half of it before it is refreshed', async () => {
    const { clock, hold, get, endpoint } = setup();
    await hold('t1', MINUTE);
    clock.advance(29_999);
    expect(get()).toBe('t1');
    expect(endpoint.calls).toBe(1);
    clock.advance(1);
    expect(get()).toBe('t1');
    await settled();
    expect(endpoint.calls).toBe(2);
  });

  test('drops a refused token at any age, and the next caller gets a new one', async () => {
    const { store, hold, get, endpoint } = setup();
    await hold('t1');
    expect(store.refuse('a', 't1')).toBe(true);
    const fresh = get();
    await endpoint.answer('t2');
    expect(await fresh).toBe('t2');
  });

  test('fetches one new token for a hundred requests whose old token was refused', async () => {
    const { store, hold, get, endpoint } = setup();
    await hold('t1');
    const refused = Array.from({ length: 100 }, () => store.refuse('a', 't1'));
    const fresh = refused.map(() => get());
    await endpoint.answer('t2');
    expect(new Set(refused)).toEqual(new Set([true]));
    expect(new Set(await Promise.all(fresh))).toEqual(new Set(['t2']));
    expect(endpoint.calls).toBe(2);
  });

  test('a late refusal of the old token does not throw the new one away', async () => {
    const { store, hold, get, endpoint } = setup();
    await hold('t1');
    store.refuse('a', 't1');
    const fresh = get();
    await endpoint.answer('t2');
    await fresh;
    for (let late = 0; late < 100; late += 1) expect(store.refuse('a', 't1')).toBe(true);
    expect(get()).toBe('t2');
    expect(endpoint.calls).toBe(2);
  });

  test('a credential whose tokens are all refused costs one token call in ten seconds', async () => {
    const { clock, store, hold, get, endpoint } = setup();
    await hold('t1');
    let current = 't1';
    for (let second = 0; second < 100; second += 1) {
      for (let request = 0; request < 50; request += 1) {
        if (!store.refuse('a', current)) continue;
        const fresh = get();
        if (typeof fresh !== 'string') {
          await endpoint.answer(`t${endpoint.calls + 1}`);
          current = await fresh;
        }
      }
      clock.advance(1_000);
    }
    expect(endpoint.calls).toBe(11);
  });

  test('the refusal of a token that was never held does nothing', () => {
    const { store } = setup();
    expect(store.refuse('nothing', 't')).toBe(false);
  });

  test('treats a mint that throws synchronously as a failure', async () => {
    const { store, clock } = setup();
    const mint = () => {
      throw new Error('at once');
    };
    await expect(store.get('x', mint)).rejects.toThrow('at once');
    clock.advance(1_000);
    await expect(store.get('x', async () => ({ value: 'ok', expiresInMs: HOUR }))).resolves.toBe('ok');
  });

  test('holds no more tokens than its limit', async () => {
    const clock = new ManualClock();
    const store = new MemoryTokenStore(clock, { max: 2 });
    let calls = 0;
    const mint = async () => ({ value: `t${(calls += 1)}`, expiresInMs: HOUR });
    for (const key of ['a', 'b', 'c']) await store.get(key, mint);
    expect(store.get('c', mint)).toBe('t3');
    expect(await store.get('a', mint)).toBe('t4');
  });

  test('drops the tokens of credentials that are no longer named, and no others', async () => {
    const { store } = setup();
    let calls = 0;
    const mint = async () => ({ value: `t${(calls += 1)}`, expiresInMs: HOUR });
    for (const key of ['a', 'b', 'c']) await store.get(key, mint);
    store.retain(new Set(['a', 'c', 'never-asked-for']));
    expect([store.get('a', mint), store.get('c', mint)]).toEqual(['t1', 't3']);
    expect(await store.get('b', mint)).toBe('t4');
  });
});
