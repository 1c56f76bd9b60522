import type { SharedPart } from '../../../core/ports/fleet-memory.ts';
import type { Rate } from '../../../core/tenants/amounts.ts';
import { Bucket } from './gcra.ts';

/**
 * The bucket of a rate that several gateways share. Their engine decides; while it is away, this process has an equal part of the rate.
 * The part counts all that is taken, so that an engine that goes away does not give each process another burst.
 */
export class SharedBucket extends Bucket {
  readonly #shared: SharedPart;
  /** Of all processes together. */
  #whole: Rate;

  constructor(part: Rate, whole: Rate, shared: SharedPart) {
    super(part);
    this.#shared = shared;
    this.#whole = whole;
  }

  changeShared(whole: Rate): void {
    if (whole.count === this.#whole.count && whole.perMs === this.#whole.perMs) return;
    this.#whole = whole;
    this.#shared.change(whole);
  }

  override fetch(units: number): Promise<void> | undefined {
    return this.#shared.fetch(units);
  }

  override waitFor(units: number, now: number): number {
    return this.#shared.waitFor(units) ?? super.waitFor(units, now);
  }

  override take(units: number, now: number): void {
    const isShared = this.#shared.waitFor(0) !== undefined;
    this.#shared.take(units);
    // One process may take what is the part of others: its own part then owes one burst at most.
    if (isShared) super.correct(units, now);
    else super.take(units, now);
  }

  override correct(units: number, now: number): void {
    this.#shared.take(units, true);
    super.correct(units, now);
  }

  override level(now: number): number {
    return this.#shared.waitFor(0) === undefined ? super.level(now) : this.#shared.level;
  }
}
