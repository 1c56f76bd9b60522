import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rate } from '../../../core/tenants/amounts.ts';
import { Bucket, burstOf } from './gcra.ts';

/** A token bucket as textbooks have it: a level that is refilled as time passes. */
class PlainBucket {
  readonly #rate: Rate;
  readonly #burst: number;
  #level: number;
  #at = 0;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#level = this.#burst = burstOf(rate);
  }

  level(now: number): number {
    const { count, perMs } = this.#rate;
    this.#level = Math.min(this.#burst, this.#level + ((now - this.#at) * count) / perMs);
    this.#at = now;
    return this.#level;
  }

  waitFor(units: number, now: number): number {
    const missing = Math.min(units, this.#burst) - this.level(now);
    return Math.max(0, (missing * this.#rate.perMs) / this.#rate.count);
  }

  take(units: number, now: number): void {
    this.#level = this.level(now) - units;
  }

  correct(units: number, now: number): void {
    const level = this.level(now);
    const least = Math.min(level, -this.#burst);
    this.#level = Math.min(this.#burst, Math.max(level - units, units > 0 ? least : -Infinity));
  }
}

/** The time of one unit is a power of two, so that both forms compute without rounding. */
const rates = fc.integer({ min: 6, max: 14 }).map((exponent): Rate => ({ count: 1024, perMs: 1024 * 2 ** exponent }));

const steps = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 16_384 }),
    units: fc.integer({ min: 0, max: 96 }),
    used: fc.integer({ min: 0, max: 192 }),
    settles: fc.boolean(),
  }),
  { maxLength: 60 },
);

describe('a bucket', () => {
  it('admits, waits and settles as a plain token bucket does', () => {
    fc.assert(
      fc.property(rates, steps, (rate, list) => {
        const bucket = new Bucket(rate);
        const plain = new PlainBucket(rate);
        let now = 0;
        for (const { after, units, used, settles } of list) {
          now += after;
          expect(bucket.waitFor(units, now)).toBe(plain.waitFor(units, now));
          if (bucket.waitFor(units, now) > 0) continue;
          for (const one of [bucket, plain]) {
            one.take(units, now);
            if (settles) one.correct(used - units, now);
          }
          expect(bucket.level(now)).toBe(plain.level(now));
        }
      }),
    );
  });

  it('lets through no more than its burst and its rate, whatever comes', () => {
    fc.assert(
      fc.property(rates, steps, (rate, list) => {
        const bucket = new Bucket(rate);
        const burst = burstOf(rate);
        let now = 0;
        let taken = 0;
        for (const { after, units } of list) {
          now += after;
          if (units > burst || bucket.waitFor(units, now) > 0) continue;
          bucket.take(units, now);
          taken += units;
        }
        expect(taken).toBeLessThanOrEqual(burst + (now * rate.count) / rate.perMs);
      }),
    );
  });

  it('admits exactly after the wait that it names, and not before', () => {
    fc.assert(
      fc.property(rates, steps, fc.integer({ min: 1, max: 64 }), (rate, list, units) => {
        const bucket = new Bucket(rate);
        let now = 0;
        for (const step of list) {
          now += step.after;
          bucket.take(step.units, now);
        }
        const wait = bucket.waitFor(units, now);
        expect(bucket.waitFor(units, now + wait)).toBe(0);
        if (wait > 0) expect(bucket.waitFor(units, now + wait - 2 ** -4)).toBeGreaterThan(0);
      }),
    );
  });

  it('keeps what was used when its rate changes', () => {
    const bucket = new Bucket({ count: 3600, perMs: 3_600_000 });
    bucket.take(4, 0);
    bucket.change({ count: 10, perMs: 1000 }, 0);
    expect(bucket.level(0)).toBe(96);
    expect(bucket.fullIn(0)).toBe(400);
  });

  it('takes a request larger than its burst when it is full, and owes the rest', () => {
    const bucket = new Bucket({ count: 60, perMs: 60_000 });
    expect(bucket.waitFor(30, 0)).toBe(0);
    bucket.take(30, 0);
    expect(bucket.level(0)).toBe(-20);
    expect(bucket.waitFor(1, 0)).toBe(21_000);
  });

  it('owes one burst at most for tokens beyond its estimate', () => {
    const bucket = new Bucket({ count: 60, perMs: 60_000 });
    bucket.take(1, 0);
    bucket.correct(1_000_000, 0);
    expect(bucket.level(0)).toBe(-10);
  });
});
