import type { AlertSink } from '../../../core/ports/alert.ts';
import { nameOfCounter } from '../../../core/tenants/tree.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { Boot, Counters, CounterSource, LostLease } from '../../../core/ports/counters.ts';
import type { Ledger } from '../../../core/ports/ledger.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import type { CounterPorts } from '../../../core/ports/store.ts';
import { requireStore, type StoreHandle } from '../../../core/ports/store-handle.ts';

/** Periods that began longer ago are forgotten: the longest is a month, and a request ends within a day. */
const FORGET_MS = 40 * 86_400_000;
const TIDY_MS = 10_000;

interface UsageCountersSetup {
  readonly clock: Clock;
  /** Processes ended with room that they had not reported. */
  readonly onLost: (leases: readonly LostLease[]) => void;
  readonly onFailure: (error: unknown) => void;
}

/** The usage counters of budgets for all processes of a gateway: in the state store, else in the memory of this process. */
export class UsageCounters {
  readonly #setup: UsageCountersSetup;
  readonly #state: StoreHandle | undefined;
  readonly #memory: CounterPorts;
  #stopTimer = (): void => {};

  /** @param state undefined: the settings have no state store */
  constructor(setup: UsageCountersSetup, state: StoreHandle | undefined) {
    this.#setup = setup;
    this.#state = state;
    this.#memory = { counters: new MemoryCounters(setup.clock) };
  }

  /** Undefined while the state store does not answer. */
  get ports(): CounterPorts | undefined {
    return this.#state ? this.#state.store : this.#memory;
  }

  /** Ends leases of processes that no longer report, and forgets old periods, from now on. */
  start(): void {
    this.#stopTimer = this.#setup.clock.after(TIDY_MS, () => {
      void this.#tidy().catch(this.#setup.onFailure);
      this.start();
    });
  }

  stop(): void {
    this.#stopTimer();
  }

  /** A process has ended: what it had leased and not reported counts as spent, because it may have been. */
  ended(boot: Boot['id']): void {
    void this.#reap(boot).catch(this.#setup.onFailure);
  }

  async #tidy(): Promise<void> {
    await this.#reap();
    await this.ports?.counters.forget(FORGET_MS);
  }

  async #reap(boot?: Boot['id']): Promise<void> {
    const { onLost } = this.#setup;
    const leases = ((await this.ports?.counters.reap(boot)) ?? []).filter(({ rest }) => rest > 0);
    if (leases.length > 0) onLost(leases);
  }
}

export const ledgerOf = (state: StoreHandle): Pick<Ledger, 'append'> => ({
  append: async (rows) => requireStore(state).ledger.append(rows),
});

/** The counters of a process that has the state store itself. */
export function countersOf(state: StoreHandle): CounterSource['counters'] {
  const counters = (): Counters => requireStore(state).counters;
  return {
    take: async (...args) => counters().take(...args),
    report: async (...args) => counters().report(...args),
    giveBack: async (...args) => counters().giveBack(...args),
  };
}

/** Time for which one alert is enough: a process may end again and again. */
const PAUSE_MS = 60_000;
const MAX_KEPT = 1000;
const MAX_NAMED = 20;

/** Raises an alert when processes ended with leases of budgets whose use they had not reported. */
export class LostLeases {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #alerts: AlertSink;
  #kept: LostLease[] = [];
  #isPausing = false;

  constructor(clock: Pick<Clock, 'after'>, alerts: AlertSink) {
    this.#clock = clock;
    this.#alerts = alerts;
  }

  note(lost: readonly LostLease[]): void {
    this.#kept = [...this.#kept, ...lost].slice(0, MAX_KEPT);
    if (!this.#isPausing) this.#raise();
  }

  #raise(): void {
    const lost = this.#kept;
    if (lost.length === 0) return;
    this.#kept = [];
    this.#isPausing = true;
    this.#clock.after(PAUSE_MS, () => {
      this.#isPausing = false;
      this.#raise();
    });
    const budgets = [...new Set(lost.map(({ node }) => nameOfCounter(node)))];
    this.#alerts.raise({
      kind: 'lost_lease',
      // A counter begins with the node of its budget.
      nodes: [...new Set(lost.map(({ node }) => node.split(' ', 1)[0]!))].slice(0, MAX_NAMED),
      text: `A process ended with unreported room of ${budgets.length} budgets; it counts as spent until the period ends.`,
      data: { leases: lost.length, budgets: budgets.slice(0, MAX_NAMED) },
      once: undefined,
    });
  }
}
