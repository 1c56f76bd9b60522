import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeasedRate } from './leased-rate.ts';
import type { Leased, Lessor } from './leased.ts';

const SECOND = 1000;

/** The bucket of the script. */
class Bucket {
  #full = 0;

  lease([, ms, burst, used, corrected, wanted, fewest]: readonly (string | number)[], now: number): [number, number] {
    const [msPerUnit, most] = [Number(ms), Number(burst)];
    this.#full = Math.max(now, Math.max(this.#full, now) + Number(used) * msPerUnit);
    const bound = Math.max(this.#full, now + 2 * most * msPerUnit);
    this.#full = Math.min(this.#full + Number(corrected) * msPerUnit, bound);
    const level = most - (this.#full - now) / msPerUnit + 1e-6;
    const got = level >= Number(wanted) ? Number(wanted) : level >= Number(fewest) ? Math.floor(level) : 0;
    this.#full += got * msPerUnit;
    return [got, level - got];
  }
}

/** Processes, and requests that wait for an answer, in a time of their own. */
class Fleet {
  now = 1_000_000;
  readonly admitted: number[] = [];
  refused = 0;
  readonly #bucket = new Bucket();
  readonly #later: { readonly at: number; readonly act: () => void }[] = [];
  readonly #processes: readonly { readonly limit: LeasedRate; waiting: number }[];
  readonly #delay: () => number;
  readonly #isLost: () => boolean;

  constructor(processes: number, count: number, answers: { delay: () => number; isLost: () => boolean }) {
    this.#delay = answers.delay;
    this.#isLost = answers.isLost;
    const lessor: Lessor = {
      isUp: true,
      now: () => this.now,
      use() {},
      ask: (limit) => {
        this.#ask(limit);
        return Promise.resolve();
      },
    };
    this.#processes = Array.from({ length: processes }, () => ({
      limit: new LeasedRate('requests', { count, perMs: SECOND }, lessor),
      waiting: 0,
    }));
  }

  request(process: number): void {
    const one = this.#processes[process % this.#processes.length]!;
    if (one.limit.fetch(1)) one.waiting += 1;
    else this.#enter(one.limit);
  }

  tick(): void {
    for (const { limit } of this.#processes) {
      limit.tick();
      if (!limit.isIdle) this.#ask(limit);
    }
  }

  /** Lets time pass up to this moment. */
  pass(to: number): void {
    for (;;) {
      this.#later.sort((one, other) => one.at - other.at);
      const next = this.#later[0];
      if (!next || next.at > to) break;
      this.#later.shift();
      this.now = next.at;
      next.act();
    }
    this.now = to;
  }

  #ask(limit: Leased): void {
    const [got, left] = this.#bucket.lease(limit.question(false), this.now);
    const isLost = this.#isLost();
    // Answers come in the order of their questions, over one connection.
    const at = this.now + this.#delay();
    const act = (): void => {
      if (isLost) limit.unanswered();
      else limit.answered(got, left);
      const process = this.#processes.find((one) => one.limit === limit)!;
      for (; process.waiting > 0; process.waiting -= 1) this.#enter(process.limit);
    };
    this.#later.push({ at, act });
  }

  #enter(limit: LeasedRate): void {
    if (limit.waitFor(1) !== 0) return void (this.refused += 1);
    limit.take(1);
    this.admitted.push(this.now);
  }
}

describe('a rate that processes lease', () => {
  it('admits in any time at most rate × time, a burst and one slice for each process', () => {
    const step = fc.record({
      process: fc.nat(4),
      gap: fc.oneof(fc.nat(3), fc.nat(400), fc.nat(5000)),
      lost: fc.nat(20),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(1, 3, 50),
        fc.array(step, { minLength: 50, maxLength: 400 }),
        (processes, count, steps) => {
          let at = 0;
          const isLost = (): boolean => steps[at]!.lost === 0;
          const fleet = new Fleet(processes, count, { delay: () => 1, isLost });
          let tickAt = fleet.now + SECOND;
          for (; at < steps.length; at += 1) {
            const to = fleet.now + steps[at]!.gap;
            for (; tickAt <= to; tickAt += SECOND) {
              fleet.pass(tickAt);
              fleet.tick();
            }
            fleet.pass(to);
            fleet.request(steps[at]!.process);
          }
          fleet.pass(fleet.now + SECOND);
          const bound = 10 * count + processes * Math.max(1, count);
          for (const [first, from] of fleet.admitted.entries())
            for (let last = first; last < fleet.admitted.length; last += 1) {
              const most = (count * (fleet.admitted[last]! - from)) / SECOND + bound + 1e-3;
              if (last - first + 1 > most) expect(last - first + 1).toBeLessThanOrEqual(most);
            }
        },
      ),
    );
  });

  it('is used whole by one process, and by all of them while each asks for more than there is', () => {
    for (const processes of [1, 3]) {
      const fleet = new Fleet(processes, 10, { delay: () => 2, isLost: () => false });
      const from = fleet.now;
      let tickAt = from + SECOND;
      for (let ms = 0; ms < 30 * SECOND; ms += 10) {
        fleet.pass(from + ms);
        if (fleet.now >= tickAt) {
          fleet.tick();
          tickAt += SECOND;
        }
        fleet.request(ms / 10);
      }
      // 30 s of 10 a second and a burst of 100.
      expect(fleet.admitted.length).toBeLessThanOrEqual(400 + 10 * processes);
      expect(fleet.admitted.length).toBeGreaterThanOrEqual(370);
    }
  });
});
