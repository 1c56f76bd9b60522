import type { Rate } from '../../../core/tenants/amounts.ts';

/** A bucket holds what its rate allows in this time, and at least 1: so much may be used at once after a rest. */
const BURST_MS = 10_000;

/** Sums of times are inexact by less: a caller that has waited as long as it should is admitted. */
const ROUNDING_MS = 1e-6;

/**
 * A token bucket as one number: the time at which it is full again (GCRA). A fixed window would let twice the limit
 * through at its edge, and a log of requests would need memory for each of them.
 */
export class Bucket {
  #burst: number;
  #msPerUnit: number;
  #fullAt = -Infinity;

  constructor({ count, perMs }: Rate) {
    this.#burst = burstOf({ count, perMs });
    this.#msPerUnit = perMs / count;
  }

  /** Changes the rate at this time. What was used stays used: as many units are missing as before. */
  change({ count, perMs }: Rate, now: number): void {
    const missing = this.#missing(now);
    this.#burst = burstOf({ count, perMs });
    this.#msPerUnit = perMs / count;
    this.#fullAt = now + missing * this.#msPerUnit;
  }

  /** Asks others for units, if several gateways share the rate. Undefined: there is nothing to wait for. */
  fetch(_units: number): Promise<void> | undefined {
    return undefined;
  }

  /** Milliseconds until `units` can be taken; 0: now. A full bucket gives more than its burst and owes the rest. */
  waitFor(units: number, now: number): number {
    const wait = this.#fullAt - now - (this.#burst - Math.min(units, this.#burst)) * this.#msPerUnit;
    return wait > ROUNDING_MS ? wait : 0;
  }

  take(units: number, now: number): void {
    this.#fullAt = Math.max(this.#fullAt, now) + units * this.#msPerUnit;
  }

  /** Corrects an estimate by more or fewer `units`. The bucket owes one burst at most: its caller could not know of it. */
  correct(units: number, now: number): void {
    if (units <= 0) {
      this.#fullAt += units * this.#msPerUnit;
      return;
    }
    const from = Math.max(this.#fullAt, now);
    const most = Math.max(from, now + 2 * this.#burst * this.#msPerUnit);
    this.#fullAt = Math.min(from + units * this.#msPerUnit, most);
  }

  /** Units that can be taken now; negative while the bucket owes some. */
  level(now: number): number {
    return this.#burst - this.#missing(now);
  }

  fullIn(now: number): number {
    return Math.max(0, this.#fullAt - now);
  }

  #missing(now: number): number {
    return this.fullIn(now) / this.#msPerUnit;
  }
}

export const burstOf = ({ count, perMs }: Rate): number => Math.max(1, (count * BURST_MS) / perMs);
