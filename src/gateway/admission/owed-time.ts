/**
 * Time that may be owed before further work waits. It covers bodies of a few megabytes, which then wait only for turns
 * of the event loop.
 */
const CREDIT_MS = 300;

/** Time that work on large bodies owes to all other work. */
export class OwedTime {
  #evenAt = 0;

  /** The earliest time, in clock milliseconds, at which further work may start. */
  get startAt(): number {
    return this.#evenAt - CREDIT_MS;
  }

  /** @param times the multiple of `tookMs` that other work gets */
  add(from: number, tookMs: number, times: number): void {
    this.#evenAt = Math.max(this.#evenAt, from) + tookMs * (1 + times);
  }
}

/** A request that meets a step waits for half of it on average. Up to this length, steps take half of the process. */
const SHORT_MS = 25;
const MOST_TIMES = 16;

/**
 * The multiple of its own time that a step owes. It grows with the step's length, because both the number of requests
 * that meet a step and their wait do. The limit keeps one body from holding up all others for minutes.
 */
export const timesOf = (tookMs: number): number => Math.min(MOST_TIMES, Math.max(1, tookMs / SHORT_MS));
