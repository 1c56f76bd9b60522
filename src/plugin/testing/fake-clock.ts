import type { Clock } from '../clock.ts';

/** A clock that stands still until the test calls `advance`. */
export interface FakeClock extends Clock {
  /** Moves time forward: runs due timers in order and lets pending promises continue. With 0, it does the latter only. */
  advance(ms: number): Promise<void>;
  /** Milliseconds until each pending timer and sleep, ascending. */
  readonly pending: readonly number[];
  /** Number of timers and sleeps started so far. */
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

/** Resolves after all runnable promise callbacks have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
