import { performance } from 'node:perf_hooks';
import type { Cancellation } from './cancellation.ts';

/** Source of time, injected so that tests control it. */
export interface Clock {
  /** Monotonic milliseconds, for durations and deadlines. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Runs `task` once after `ms` milliseconds. Returns a function that cancels it. Never keeps the process alive. */
  after(ms: number, task: () => void): () => void;
  /** Resolves after `ms` milliseconds; rejects with the reason when `cancellation` is cancelled first. */
  sleep(ms: number, cancellation?: Cancellation): Promise<void>;
}

function after(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after,
  sleep(ms, cancellation) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stopListening?.();
        resolve();
      }, ms);
      const stopListening = cancellation?.onCancel((reason) => {
        clearTimeout(timer);
        reject(reason);
      });
    });
  },
};
