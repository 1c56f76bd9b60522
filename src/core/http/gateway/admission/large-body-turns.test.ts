import { describe, expect, it } from 'vitest';
import { Cancellation, GatewayError } from '../../../../plugin/index.ts';
import type { Exchange } from '../../../kernel/index.ts';
import { createCaller, createExchange, createFakeClock } from '../../../../plugin/testing/index.ts';
import { HeavyTurns } from './large-body-turns.ts';

function start(largeBodies = 64) {
  const clock = createFakeClock();
  const pending: (() => void)[] = [];
  const reported: (string | number)[] = [];
  const turns = new HeavyTurns({
    clock,
    nextLoopTurn: (task) => void pending.push(task),
    others: () => Infinity,
    reported: {
      waiting: (change) => void reported.push(change),
      waited: (ms) => void reported.push(`${ms} ms`),
      refused: () => void reported.push('refused'),
    },
  });
  turns.apply({ largeBodies });
  const done: string[] = [];
  return {
    turns,
    clock,
    done,
    reported,
    /** Runs the event loop once, after so many ms. */
    async loop(ms: number) {
      await clock.advance(ms);
      for (const task of pending.splice(0)) task();
      await Promise.resolve();
    },
    pending,
  };
}

/** Steps that take time, on a clock that advances to its next timer whenever a step waits. */
function measured(others: number) {
  let now = 0;
  const timers: { at: number; task: () => void }[] = [];
  const clock = {
    ...createFakeClock(),
    now: () => now,
    after(ms: number, task: () => void) {
      const timer = { at: now + ms, task };
      timers.push(timer);
      return () => void (timer.at = Infinity);
    },
  };
  const turns = new HeavyTurns({ clock, nextLoopTurn: (task) => task(), others: () => others });
  const starts: number[] = [];
  const names: string[] = [];
  const turn = (key: string, took: number): void => {
    const work = (): void => {
      names.push(key);
      starts.push(now);
      now += took;
    };
    void turns.run(of(key, { deadline: Infinity }), work);
  };
  /** Runs until no step waits. */
  const settle = (): void => {
    for (;;) {
      const next = timers.filter(({ at }) => at < Infinity).toSorted((a, b) => a.at - b.at)[0];
      if (!next) return;
      now = Math.max(now, next.at);
      const { task } = next;
      next.at = Infinity;
      task();
    }
  };
  return { turn, starts, names, settle };
}

const of = (keyId: string, parts: Parameters<typeof createExchange>[0] = {}): Exchange =>
  createExchange({ caller: createCaller({ keyId }), ...parts });

describe('turns for large bodies', () => {
  it('apply to bodies over 1 MB', () => {
    const { turns } = start();
    expect([turns.isHeavy(1_000_000), turns.isHeavy(1_000_001)]).toEqual([false, true]);
  });

  it('run the first step synchronously and return its result', () => {
    const { turns } = start();
    expect(turns.run(of('a'), () => 7)).toBe(7);
  });

  it('let the event loop run before the next step, one step at a time', async () => {
    const { turns, done, loop, pending } = start();
    const steps = ['one', 'two', 'three'].map((name) => turns.run(of('a'), () => void done.push(name)));
    expect(done).toEqual(['one']);
    await loop(0);
    expect(done).toEqual(['one', 'two']);
    expect(pending).toEqual([]);
    await loop(0);
    await Promise.all(steps);
    expect(done).toEqual(['one', 'two', 'three']);
    expect(turns.waiting).toBe(0);
  });

  it('report the number of waiting steps, each wait and every refusal', async () => {
    const { turns, reported, loop } = start(2);
    const cancellation = new Cancellation();
    const left = of('b', { cancellation });
    void turns.run(of('a'), () => {});
    const waiting = turns.run(of('a'), () => {});
    const leaving = Promise.resolve(turns.run(left, () => {}));
    const refused = Promise.resolve(turns.run(of('c'), () => {}));
    await expect(refused).rejects.toMatchObject({ code: 'busy' });
    expect(reported.splice(0)).toEqual([1, 1, 'refused']);
    cancellation.cancel(new GatewayError('client_closed', 'The client left.'));
    await expect(leaving).rejects.toMatchObject({ code: 'client_closed' });
    expect(reported.splice(0)).toEqual(['0 ms', -1]);
    await loop(30);
    await waiting;
    expect(reported).toEqual([-1, '30 ms']);
  });

  it.each([
    ['leave half of the process to other requests', 99, 20, [...Array<number>(14).fill(0), 0, 20, 20]],
    ['leave most of the process to other requests if the steps are long', 9, 100, [100, 400, 400]],
    ['leave at most sixteen times their own length', 9, 1000, [15_700, 16_000, 16_000]],
    ['leave no time if no other request is in flight', 0, 200, [0, 0, 0]],
  ])('%s', (_, others, took, expected) => {
    const { starts, turn, settle } = measured(others);
    for (let step = 0; step <= expected.length; step += 1) turn('a', took);
    settle();
    expect(starts.slice(1).map((at, step) => at - starts[step]! - took)).toEqual(expected);
  });

  it('do not make a key with little recent use wait for the long steps of others', () => {
    const { starts, turn, names, settle } = measured(9);
    for (let step = 0; step < 3; step += 1) turn('hog', 500);
    turn('modest', 10);
    turn('modest', 10);
    settle();
    expect(names).toEqual(['hog', 'modest', 'modest', 'hog', 'hog']);
    expect(starts.slice(0, 3)).toEqual([0, 700, 720]);
  });

  it('rotate over the keys, however many requests each has', async () => {
    const { turns, done, loop } = start();
    const step = (key: string, name: string) => void turns.run(of(key), () => void done.push(name));
    for (const name of ['a1', 'a2', 'a3', 'a4']) step('a', name);
    step('b', 'b1');
    step('b', 'b2');
    step('c', 'c1');
    for (let turn = 0; turn < 6; turn += 1) await loop(0);
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('serve a request that has begun before the new ones of its key', async () => {
    const { turns, done, loop } = start();
    const [first, second] = [of('a'), of('a')];
    void turns.run(first, () => void done.push('first scanned'));
    void turns.run(second, () => void done.push('second scanned'));
    void turns.run(first, () => void done.push('first checked'));
    void turns.run(first, () => void done.push('first translated'));
    for (let turn = 0; turn < 3; turn += 1) await loop(0);
    expect(done).toEqual(['first scanned', 'first checked', 'first translated', 'second scanned']);
  });

  it('refuse a new request when too many wait, and name the limit', async () => {
    const { turns } = start(8);
    const going = of('a');
    void turns.run(going, () => 0);
    const waiting = ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd'].map((key) => turns.run(of(key), () => 0));
    await expect(turns.run(of('e'), () => 0)).rejects.toMatchObject({
      code: 'busy',
      retryAfterMs: 1000,
      message: expect.stringMatching(/^8 requests .*limits\.large_bodies/) as string,
    });
    expect(waiting).toHaveLength(turns.waiting);
  });

  it('give each key at most a quarter, and refuse no request that has begun', async () => {
    const { turns, loop, done } = start(8);
    const going = of('a');
    void turns.run(going, () => 0);
    void turns.run(of('a'), () => 0);
    void turns.run(of('a'), () => 0);
    await expect(turns.run(of('a'), () => 0)).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringContaining('of this key') as string,
    });
    void turns.run(going, () => void done.push('begun'));
    void turns.run(of('b'), () => void done.push('another key'));
    await loop(0);
    await loop(0);
    expect(done).toEqual(['begun', 'another key']);
  });

  it('end a wait when its client disconnects, and take nothing from the next', async () => {
    const { turns, done, loop } = start();
    const left = of('a');
    void turns.run(of('a'), () => 0);
    const waits = turns.run(left, () => void done.push('left'));
    void turns.run(of('a'), () => void done.push('stays'));
    left.cancellation.cancel(new GatewayError('client_closed', 'The client left.'));
    await expect(waits).rejects.toMatchObject({ code: 'client_closed' });
    await loop(0);
    await loop(0);
    expect([done, turns.waiting]).toEqual([['stays'], 0]);
    expect(() => turns.run(left, () => 0)).toThrow('The client left.');
  });

  it('end a wait at the deadline of the request, or at an earlier limit', async () => {
    const { turns, clock } = start();
    void turns.run(of('a'), () => 0);
    const late = turns.run(of('b', { deadline: clock.now() + 50 }), () => 0);
    const limit = { cancellation: new Cancellation(), deadline: clock.now() + 20 };
    const later = turns.run(of('c'), () => 0, limit);
    const codes = Promise.allSettled([late, later]);
    await clock.advance(60);
    expect(await codes).toMatchObject([
      { reason: { code: 'timeout_request' } },
      { reason: { code: 'timeout_request' } },
    ]);
    expect(turns.waiting).toBe(0);
  });

  it('go on after a step that throws', async () => {
    const { turns, done, loop } = start();
    const fail = (): never => {
      throw new Error('no');
    };
    expect(() => turns.run(of('a'), fail)).toThrow('no');
    const waits = expect(turns.run(of('a'), fail)).rejects.toThrow('no');
    void turns.run(of('a'), () => void done.push('next'));
    await loop(0);
    await loop(0);
    await waits;
    expect(done).toEqual(['next']);
  });
});
