import { expect, it } from 'vitest';
import { systemClock, type Clock } from '../plugin/index.ts';
import { DeadlineTimer } from './deadline-timer.ts';

/** A clock that the test advances. */
function createManualClock() {
  const waiting = new Map<symbol, { at: number; task: () => void }>();
  let now = 0;
  let set = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    after(ms, task) {
      const key = Symbol('timer');
      set += 1;
      waiting.set(key, { at: now + ms, task });
      return () => waiting.delete(key);
    },
  };
  return {
    clock,
    advance(ms: number) {
      now += ms;
      for (const [key, { at, task }] of waiting) {
        if (at > now) continue;
        waiting.delete(key);
        task();
      }
    },
    timersSet: () => set,
    waiting: () => waiting.size,
  };
}

it('wakes once at the requested time', () => {
  const time = createManualClock();
  let woken = 0;
  const timer = new DeadlineTimer(time.clock, () => (woken += 1));
  timer.waitUntil(50);
  time.advance(49);
  expect(woken).toBe(0);
  time.advance(1);
  time.advance(1000);
  expect(woken).toBe(1);
});

it('is reset for an earlier time and not for a later one', () => {
  const time = createManualClock();
  let woken = 0;
  const timer = new DeadlineTimer(time.clock, () => (woken += 1));
  for (let at = 100; at < 10_000; at += 1) timer.waitUntil(at);
  expect(time.timersSet()).toBe(1);
  timer.waitUntil(20);
  expect([time.timersSet(), time.waiting()]).toEqual([2, 1]);
  time.advance(20);
  expect(woken).toBe(1);
});

it('waits in steps for a time beyond the largest timer', () => {
  const time = createManualClock();
  let woken = 0;
  const timer = new DeadlineTimer(time.clock, () => (woken += 1));
  timer.waitUntil(Infinity);
  expect(time.waiting()).toBe(0);
  timer.waitUntil(1e12);
  time.advance(0x7fffffff);
  expect(woken).toBe(1);
});

it('does not wake after it was stopped', () => {
  const time = createManualClock();
  const timer = new DeadlineTimer(time.clock, () => expect.unreachable());
  timer.waitUntil(50);
  timer.stop();
  time.advance(100);
  expect(time.waiting()).toBe(0);
});
