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
