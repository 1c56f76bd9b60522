import type { Boot, Counters, LeaseState, TakeResult } from '../../../src/core/ports/counters.ts';
import { MemoryCounters } from '../../../src/addons/budgets/store/memory/counters.ts';
import { creditOf } from '../../../src/core/ports/counters.ts';
import type { FakeClock } from '../../../src/plugin/testing/index.ts';

interface Call {
  readonly at: number;
  readonly run: (counters: Counters) => Promise<unknown>;
  /** Amounts that it adds to what is spent, without a lease. */
  readonly adds: number;
  /** What its process said of its credit. */
  readonly by?: { readonly boot: Boot['id']; readonly parts: number } | undefined;
}

/** What a store has promised or counted, as its answers told. */
class Promised {
  readonly leases = new Map<number, number>();
  readonly parts = new Map<Boot['id'], number>();
  added = 0;

  note({ adds, by }: Call, answer: unknown): void {
    this.added += adds;
    const { grants, credit } = (answer ?? {}) as Partial<TakeResult>;
    if (by && credit) this.parts.set(by.boot, Math.max(by.parts, credit.parts));
    const states = grants?.flatMap(({ leases }) => leases) ?? (Array.isArray(answer) ? (answer as LeaseState[]) : []);
    for (const { lease, granted, used } of states)
      if (lease > 0 && granted !== undefined) this.leases.set(lease, Math.max(granted, used));
  }
}

/** The store of a fleet. It can fail over to a standby that does not have the last transactions. */
export class FleetStore {
  readonly #clock: FakeClock;
  #calls: Call[] = [];
  #counters: Counters;
  #promised = new Promised();
  #replayedAt: number | undefined;

  constructor(clock: FakeClock) {
    this.#clock = clock;
    this.#counters = this.#empty();
  }

  get counters(): Counters {
    return this.#counters;
  }

  async run<Answer>(
    run: (counters: Counters) => Promise<Answer>,
    more: Partial<Pick<Call, 'adds' | 'by'>> = {},
  ): Promise<Answer> {
    const call: Call = { at: this.#clock.wall(), run, adds: 0, ...more };
    this.#calls.push(call);
    const answer = await run(this.#counters);
    this.#promised.note(call, answer);
    return answer;
  }

  /** Loses the last calls. Returns what the store had granted, counted or let processes use, and does not know any more. */
  async failOver(lost: number, cap: number): Promise<number> {
    const before = this.#promised;
    this.#calls = this.#calls.slice(0, Math.max(0, this.#calls.length - lost));
    this.#promised = new Promised();
    this.#counters = this.#empty();
    for (const call of this.#calls) {
      this.#replayedAt = call.at;
      const answer = await call.run(this.#counters).catch(() => undefined);
      this.#promised.note(call, answer);
    }
    this.#replayedAt = undefined;
    const after = this.#promised;
    let sum = Math.max(0, before.added - after.added);
    for (const [lease, amount] of before.leases) sum += Math.max(0, amount - (after.leases.get(lease) ?? 0));
    for (const [boot, parts] of before.parts) sum += creditOf(cap, Math.max(0, parts - (after.parts.get(boot) ?? 0)));
    return sum;
  }

  #empty(): Counters {
    const wall = (): number => this.#replayedAt ?? this.#clock.wall();
    return new MemoryCounters({ ...this.#clock, wall }, { givesCredit: true });
  }
}
