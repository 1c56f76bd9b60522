import type { Cancellation } from '../../plugin/cancellation.ts';

/** The limits of a wait. */
export interface Limit {
  readonly cancellation: Cancellation;
  /** Monotonic milliseconds. */
  readonly deadline: number;
}

/** A request that takes turns, or a socket before its message is one. Its limits are those of its waits. */
export interface TurnTaker extends Limit {
  readonly caller: { readonly keyId: string } | undefined;
}

/** Turns for work that blocks the process: steps of large bodies run one at a time, others in between. */
export interface Turns {
  /** Whether work on this many bytes needs a turn. Lighter work runs at once, without a promise. */
  isHeavy(bytes: number): boolean;
  /**
   * Runs the work now or in its turn. Rejects with `busy` when too many wait, with `timeout_request` at the deadline,
   * and with the cancellation's reason. Throws the error of the work.
   * @param limit default: the taker's own
   */
  run<T>(taker: TurnTaker, work: () => T, limit?: Limit): T | Promise<T>;
}

/** For code that runs without concurrent requests: commands, tests, and explain, which has its own time slices. */
export const NO_TURNS: Turns = { isHeavy: () => false, run: (_, work) => work() };
