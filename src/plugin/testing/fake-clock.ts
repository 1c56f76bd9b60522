import type { Clock } from '../clock.ts';

/** A clock whose time is the test's: it stands still until `advance`. */
export interface FakeClock extends Clock {
  /** Moves time on: runs what falls due, in its order, and lets what waited for it go on. `advance(0)` only does the latter. */
  advance(ms: number): Promise<void>;
  /** What is waited for: milliseconds from now of every timer and sleep. */
  readonly pending: readonly number[];
  /** How many timers and sleeps there have been. */
  readonly started: number;
}

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** @param wall milliseconds since 1970 at the clock's zero */
export function createFakeClock(wall = Date.UTC(2026, 0, 1)): FakeClock {
  let now = 0;
  let started = 0;
  const timers = new Set<Timer>();
  const after = (ms: number, task: () => void): (() => void) => {
    const timer = { at: now + ms, task };
    started += 1;
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const nextDue = (until: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    wall: () => wall + now,
    after,
    sleep: (ms, cancellation) =>
      new Promise((resolve, reject) => {
        const stop = after(ms, () => {
          stopListening?.();
          resolve();
        });
        const stopListening = cancellation?.onCancel((reason) => {
          stop();
          reject(reason);
        });
      }),
    async advance(ms) {
      const end = now + ms;
      await settled();
      for (let timer = nextDue(end); timer; timer = nextDue(end)) {
        timers.delete(timer);
        now = Math.max(now, timer.at);
        timer.task();
        await settled();
      }
      now = end;
    },
    get pending() {
      return [...timers].map(({ at }) => at - now).toSorted((a, b) => a - b);
    },
    get started() {
      return started;
    },
  };
}

/** Promises that can go on have gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
