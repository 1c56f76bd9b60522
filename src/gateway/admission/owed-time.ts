/** Time that may be owed before further work has to wait: a body of a few megabytes waits for no more than turns of the loop. */
const CREDIT_MS = 300;

/** Time that work on large bodies owes to all other work. */
export class OwedTime {
  #evenAt = 0;

  /** From when on, in milliseconds of the clock, further work may start. */
  get startAt(): number {
    return this.#evenAt - CREDIT_MS;
  }

  /** @param times how many times as much time the others get */
  add(from: number, tookMs: number, times: number): void {
    this.#evenAt = Math.max(this.#evenAt, from) + tookMs * (1 + times);
  }
}

/** Other requests wait half a step on average when they meet one: up to this length steps take half of the process. */
const SHORT_MS = 25;
const MOST_TIMES = 16;

/**
 * How many times as much time a step owes. It grows with the step, since both the number of requests that meet a step and the time each of them
 * waits do; the limit keeps one body from holding up all others for minutes.
 */
export const timesOf = (tookMs: number): number => Math.min(MOST_TIMES, Math.max(1, tookMs / SHORT_MS));
