import type { Cancellation } from './cancellation.ts';
import type { Exchange } from './exchange.ts';

/** How long something may be waited for. */
export interface Limit {
  readonly cancellation: Cancellation;
  /** Monotonic milliseconds. */
  readonly deadline: number;
}

/**
 * Turns for work that blocks the process. A body of megabytes takes its steps (reading, checking, each translation) one at a time, and
 * other requests run in between.
 */
export interface Turns {
  /** Work on so many bytes needs a turn. Work on fewer is done at once, without a promise. */
  isHeavy(bytes: number): boolean;
  /**
   * Does the work now or in its turn. Rejects with `busy` where too many wait, with `timeout_request` at the deadline, and with the
   * reason of the cancellation; throws what the work throws.
   * @param limit Default: the exchange's own.
   */
  run<T>(exchange: Exchange, work: () => T, limit?: Limit): T | Promise<T>;
}

/** For what runs without other requests beside it: commands, tests, and explain, which takes slices of its own. */
export const NO_TURNS: Turns = { isHeavy: () => false, run: (_, work) => work() };
