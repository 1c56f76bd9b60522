import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Clock } from '../../src/plugin/index.ts';
import { UsageCounters } from '../../src/addons/budgets/state/usage-counters.ts';
import { StateAnswers } from '../../src/addons/workers/shared-state.ts';
import type { ToPrimary } from '../../src/addons/workers/ipc.ts';
import type { CounterState, LostLease } from '../../src/core/ports/counters.ts';

/** What providers have charged in one period, and what the bound allows beyond the cap. */
interface Charged {
  cost: number;
  readonly excess: Map<string, number>;
}

export interface Spent {
  readonly periods: ReadonlyMap<number, Charged>;
  readonly refused: number;
}

/** Processes that spend from one budget (spender.ts), and the counters that they share. */
export class Spenders {
  readonly lost: LostLease[] = [];
  /** Those that have begun to spend. */
  readonly spending = new Set<number>();
  readonly #running = new Map<number, ChildProcess>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'gatehouse-budgets-'));
  readonly #failures: unknown[] = [];
  readonly #counters: UsageCounters;
  readonly #answers: StateAnswers;
  readonly #args: readonly string[];
  readonly #cap: number;
  #started = 0;

  /** @param clock of the counters @param args more arguments of spender.ts */
  constructor(cap: number, clock: Clock, args: readonly string[] = []) {
    this.#cap = cap;
    this.#args = args;
    this.#counters = new UsageCounters(
      {
        clock,
        onLost: (leases) => void this.lost.push(...leases),
        onFailure: (error) => void this.#failures.push(error),
      },
      undefined,
    );
    this.#counters.start();
    this.#answers = new StateAnswers(Object.assign(this.#counters, { takeSpool() {} }));
  }

  /** Returns its number. */
  start(): number {
    const number = (this.#started += 1);
    const args = [join(this.#folder, `${number}.txt`), String(this.#cap), ...this.#args];
    const child = fork(join(import.meta.dirname, 'spender.ts'), args, { serialization: 'advanced' });
    this.#running.set(number, child);
    child.on('message', (message: ToPrimary) => {
      if (message.type !== 'state') return;
      this.spending.add(number);
      void this.#answers.answer(number, message).then((answer) => {
        if (child.connected) child.send(answer, () => {});
      });
    });
    child.on('error', () => {});
    child.on('exit', () => {
      this.#running.delete(number);
      this.spending.delete(number);
      this.#answers.ended(number);
    });
    return number;
  }

  /** False: the process has ended already. */
  signal(number: number, signal: NodeJS.Signals): boolean {
    return this.#running.get(number)?.kill(signal) ?? false;
  }

  /** @param of the number of a process; undefined: all */
  spent(of?: number): Spent {
    const periods = new Map<number, Charged>();
    let refused = 0;
    for (const name of of === undefined ? readdirSync(this.#folder) : [`${of}.txt`])
      for (const line of readFileSync(join(this.#folder, name), 'utf8').split('\n').slice(0, -1)) {
        const [what, account = '', start, cost, inFlight] = line.split(' ');
        if (what === 'refused') refused += 1;
        else {
          const period = periods.get(Number(start)) ?? { cost: 0, excess: new Map<string, number>() };
          periods.set(Number(start), period);
          period.cost += Number(cost);
          // The last line of an account is its last reserve.
          period.excess.set(account, Number(inFlight));
        }
      }
    return { periods, refused };
  }

  async end(): Promise<void> {
    const exits = [...this.#running.values()].map((child) => new Promise((resolve) => child.on('exit', resolve)));
    for (const child of this.#running.values()) child.kill('SIGKILL');
    await Promise.all(exits);
    this.#counters.stop();
  }

  /** Compares what was charged with the bound of overspending, and removes the files. */
  async expectBound(): Promise<void> {
    expect(this.#failures).toEqual([]);
    const { periods } = this.spent();
    rmSync(this.#folder, { recursive: true, force: true });
    const states: CounterState[] = [];
    for await (const part of this.#counters.ports!.counters.all()) states.push(...part);
    for (const [start, { cost, excess }] of periods) {
      const allowed = [...excess.values()].reduce((sum, one) => sum + one, 0);
      expect(cost - this.#cap, `the period from ${new Date(start).toISOString()}`).toBeLessThanOrEqual(allowed);
      // Nothing that was charged is missing: it is spent, or as good as spent.
      const state = states.find(({ period }) => period === start)!;
      expect(state.spent + state.unreconciled + allowed).toBeGreaterThanOrEqual(cost);
    }
  }
}
