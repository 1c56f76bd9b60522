import { networkOf } from '../../../core/kernel/network-of.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { Rate } from './amounts.ts';
import { Bucket } from './gcra.ts';

/** Addresses whose requests are counted. The one that was refused longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000;

/** Requests without a valid key, by client address. */
export class AddressGates {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #max: number;
  /** By network, the one that was used last at the end. */
  readonly #buckets = new Map<string, Bucket>();
  #rate: Rate | undefined;

  constructor(clock: Pick<Clock, 'now'>, max = MAX_ADDRESSES) {
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** A new rate keeps the counts. Undefined: no requests are counted any more. */
  apply(rate: Rate | undefined): void {
    this.#rate = rate;
    if (!rate) return this.#buckets.clear();
    const now = this.#clock.now();
    for (const bucket of this.#buckets.values()) bucket.change(rate, now);
  }

  /** Counts a request without a valid key. Returns the milliseconds until the next one may come; 0: this one may. */
  count(address: string): number {
    if (!this.#rate) return 0;
    const now = this.#clock.now();
    const network = networkOf(address);
    const bucket = this.#buckets.get(network) ?? new Bucket(this.#rate);
    this.#buckets.delete(network);
    this.#buckets.set(network, bucket);
    if (this.#buckets.size > this.#max) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    const wait = bucket.waitFor(1, now);
    if (wait === 0) bucket.take(1, now);
    return wait;
  }
}
