import { performance } from 'node:perf_hooks';
import type { Cancellation } from './cancellation.ts';

/** Time as the code sees it, so that tests can own it. */
export interface Clock {
  /** Monotonic milliseconds, for durations and deadlines. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Runs `task` once after `ms`; returns how to call it off. Never keeps the process alive. */
  after(ms: number, task: () => void): () => void;
  /** Resolves after `ms`; rejects with the reason when `cancellation` happens first. */
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
