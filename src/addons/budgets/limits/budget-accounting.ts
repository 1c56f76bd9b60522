import type { CounterSource } from '../../../core/ports/counters.ts';
import type { Clock } from '../../../plugin/index.ts';
import { AccountBook, ALONE, type Account } from './accounts.ts';
import { Leases } from './leases.ts';
import { Reservations } from './reservations.ts';
import type { Budget, NodeChanges, NodeTree } from '../../../core/tenants/tree.ts';

export interface BudgetEvents {
  /** An account has reached an alert of its budget, in percent. Once a period and process for each. */
  alert?(account: Account, percent: number): void;
  /** An account that has been used, every few seconds. */
  level?(account: Account): void;
  /** Requests ended without a settle; their reserves count as spent. */
  expired?(count: number): void;
  /** The wall clock went forward against the monotonic clock: periods may have begun too early. */
  clockForward?(ms: number): void;
  store?(failure: Error | undefined): void;
  lost?(account: Account): void;
  /** An account has a lease now. */
  leased?(account: Account): void;
}

/** Alerts, expired holds and the clock are looked at this often. */
const SWEEP_MS = 5000;
const CLOCK_FORWARD_MS = 5 * 60_000;

/** Accounts, reservations and leases of the budgets of one process. They outlive settings. */
export class BudgetAccounting {
  readonly reservations: Reservations;
  readonly book: AccountBook;
  readonly #clock: Clock;
  readonly #events: BudgetEvents;
  readonly #leases: Leases | undefined;
  #offset: number;
  #stopTimer: (() => void) | undefined;
  #lastHold = 0;

  /** @param shared undefined: this process counts alone, in memory */
  constructor(clock: Clock, events: BudgetEvents = {}, shared?: CounterSource) {
    this.#clock = clock;
    this.#events = events;
    this.#leases =
      shared &&
      new Leases({
        ...shared,
        clock,
        onStore: (failure) => events.store?.(failure),
        onLost: (account) => events.lost?.(account),
        onLeased: (account) => events.leased?.(account),
      });
    this.reservations = new Reservations(this.#leases);
    this.book = new AccountBook(this.#leases ?? ALONE);
    this.#leases?.start(this.book);
    this.#offset = clock.wall() - clock.now();
  }

  /** Budgets of new settings. */
  use(tree: NodeTree): void {
    this.book.use(tree.nodes().flatMap(({ budgets }) => budgets));
  }

  /** Budgets of nodes that have changed. */
  change({ changed, before }: NodeChanges): void {
    const budgets = changed.flatMap((node) => node.budgets);
    const ids = new Set(budgets.map(({ id }) => id));
    const gone = before.flatMap((node) => node.budgets.flatMap(({ id }) => (ids.has(id) ? [] : [id])));
    this.book.change(budgets, gone);
  }

  accountsOf(budgets: readonly Budget[]): readonly Account[] {
    const wall = this.#clock.wall();
    return budgets.map((budget) => this.book.at(budget, wall));
  }

  /** A number for a new hold. Ids of requests will not do: callers may send their own. */
  newHold(): number {
    if (!this.#stopTimer) this.#schedule();
    return (this.#lastHold += 1);
  }

  /** Undefined: no store could give more room. Otherwise resolves when the store has answered, or after `ms`. */
  answered(ms: number): Promise<void> | undefined {
    return this.#leases?.answered(ms);
  }

  /** The store does not answer: what requests need beyond their leases cannot be counted now. */
  get storeIsDown(): boolean {
    return this.#leases?.isDown ?? false;
  }

  async close(): Promise<void> {
    this.#stopTimer?.();
    await this.#leases?.close();
  }

  #schedule(): void {
    this.#stopTimer = this.#clock.after(SWEEP_MS, () => {
      this.#sweep();
      // The next hold starts it again: without one, nothing changes.
      this.#stopTimer = undefined;
      if (this.reservations.size > 0) this.#schedule();
    });
  }

  #sweep(): void {
    const expired = this.reservations.expire(this.#clock.now());
    if (expired.length > 0) this.#events.expired?.(expired.length);
    for (const account of this.book) {
      this.#events.level?.(account);
      this.#alert(account);
    }
    const offset = this.#clock.wall() - this.#clock.now();
    const forward = offset - this.#offset;
    this.#offset = offset;
    if (forward > CLOCK_FORWARD_MS) this.#events.clockForward?.(forward);
  }

  #alert(account: Account): void {
    const { alerts } = account.budget;
    const reached = alerts.findLast((percent) => percent <= account.percent);
    if (reached === undefined || reached <= account.alerted) return;
    account.alerted = reached;
    this.#events.alert?.(account, reached);
  }
}
