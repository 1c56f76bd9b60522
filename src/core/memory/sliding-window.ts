/** Number of buckets: a count leaves the window after nine to ten tenths of its length. */
const BUCKETS = 10;

/** Counts requests and failures of the last `windowMs`, without allocation. */
export class SlidingWindow {
  readonly #bucketMs: number;
  readonly #requestsIn = new Uint32Array(BUCKETS);
  readonly #failuresIn = new Uint32Array(BUCKETS);
  /** Index of the newest bucket, counted from the clock's zero. */
  #newest = 0;
  #requests = 0;
  #failures = 0;

  constructor(windowMs: number) {
    this.#bucketMs = windowMs / BUCKETS;
  }

  requests(now: number): number {
    this.#moveTo(now);
    return this.#requests;
  }

  failures(now: number): number {
    this.#moveTo(now);
    return this.#failures;
  }

  add(now: number, failed: boolean): void {
    const slot = this.#moveTo(now);
    this.#requestsIn[slot]! += 1;
    this.#requests += 1;
    if (!failed) return;
    this.#failuresIn[slot]! += 1;
    this.#failures += 1;
  }

  /** Turns a request that was counted as a success at `since` into a failure now. It still counts as one request. */
  turn(since: number, now: number): void {
    this.#moveTo(now);
    const bucket = Math.floor(since / this.#bucketMs);
    if (bucket > this.#newest - BUCKETS) {
      this.#requestsIn[bucket % BUCKETS]! -= 1;
      this.#requests -= 1;
    }
    this.add(now, true);
  }

  clear(): void {
    this.#requestsIn.fill(0);
    this.#failuresIn.fill(0);
    this.#requests = 0;
    this.#failures = 0;
  }

  /** Empties the buckets that have left the window and returns the slot of the newest one. */
  #moveTo(now: number): number {
    const bucket = Math.floor(now / this.#bucketMs);
    const from = Math.max(this.#newest, bucket - BUCKETS);
    for (let next = from + 1; next <= bucket; next += 1) this.#empty(next % BUCKETS);
    if (bucket > this.#newest) this.#newest = bucket;
    return this.#newest % BUCKETS;
  }

  #empty(slot: number): void {
    this.#requests -= this.#requestsIn[slot]!;
    this.#failures -= this.#failuresIn[slot]!;
    this.#requestsIn[slot] = 0;
    this.#failuresIn[slot] = 0;
  }
}
