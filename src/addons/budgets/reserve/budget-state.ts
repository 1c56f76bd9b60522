import type { Logger } from 'pino';
import { bitsOf, EXHAUSTED_BIT, type Alert } from '../../../core/ports/alert.ts';
import type { CounterSource } from '../../../core/ports/counters.ts';
import type { Budget, NodeChanges, NodeTree } from '../../../core/tenants/tree.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { BudgetFamilies } from '../metrics.ts';
import type { RequestLedger } from '../ledger/request-ledger.ts';
import { AccountBook, ALONE, type Account } from '../limits/accounts.ts';
import { Leases } from '../limits/leases.ts';
import { Reservations, type ReservationRefusal } from '../limits/reservations.ts';
import { LearnedSizes } from '../prices/learned-sizes.ts';
import { amountText } from './budget-refusal.ts';
import type { Overrun } from './overrun.ts';

/** Alerts, expired holds and the clock are looked at this often. */
const SWEEP_MS = 5000;
const CLOCK_FORWARD_MS = 5 * 60_000;
const NANO_PER_USD = 1e9;

interface BudgetStateSetup {
  readonly clock: Clock;
  readonly log?: Pick<Logger, 'warn' | 'error' | 'info'>;
  readonly families?: BudgetFamilies;
  /** Undefined: this process counts alone, in memory. */
  readonly shared?: CounterSource | undefined;
  readonly raise?: (alert: Alert) => void;
  /** Follows what is sent. Undefined: there is no state store. */
  readonly ledger?: RequestLedger | undefined;
}

/** Accounts, reservations and leases of the budgets of a process, and the sizes of requests that it has learned. They outlive settings. */
export class BudgetState {
  readonly reservations: Reservations;
  readonly learned = new LearnedSizes();
  readonly ledger: RequestLedger | undefined;
  readonly #setup: BudgetStateSetup;
  readonly #book: AccountBook;
  readonly #leases: Leases | undefined;
  /** The wall clock against the monotonic one. */
  #offset: number;
  #stopTimer: (() => void) | undefined;
  #lastHold = 0;
  /** The log has said that counts end with this process. */
  #isSaid: boolean;

  constructor(setup: BudgetStateSetup) {
    const { clock, shared } = setup;
    this.#setup = setup;
    this.ledger = setup.ledger;
    this.#isSaid = shared !== undefined;
    this.#leases = shared && this.#leasesOf(shared);
    this.reservations = new Reservations(this.#leases);
    this.#book = new AccountBook(this.#leases ?? ALONE);
    this.#leases?.start(this.#book);
    this.#offset = clock.wall() - clock.now();
  }

  #leasesOf(shared: CounterSource): Leases {
    const { clock, log, families, ledger } = this.#setup;
    return new Leases({
      ...shared,
      clock,
      onStore(failure) {
        if (failure) log?.error({ err: failure }, 'the store of the budgets does not answer');
        else log?.info('the store of the budgets answers again');
      },
      onLost({ budget }) {
        families?.budgetLeasesLost.add({});
        log?.error({ budget: budget.name }, 'the store has declared a lease of this process lost');
      },
      onLease: (account) => ledger?.noteLease(account),
    });
  }

  use(tree: NodeTree): void {
    this.#book.use(tree.nodes().flatMap(({ budgets }) => budgets));
    if (this.#isSaid || !tree.hasBudgets) return;
    this.#isSaid = true;
    this.#setup.log?.warn('budgets are counted in memory: what is spent begins at zero with each start');
  }

  change({ changed, before }: NodeChanges): void {
    const budgets = changed.flatMap((node) => node.budgets);
    const ids = new Set(budgets.map(({ id }) => id));
    const gone = before.flatMap((node) => node.budgets.flatMap(({ id }) => (ids.has(id) ? [] : [id])));
    this.#book.change(budgets, gone);
  }

  accountsOf(budgets: readonly Budget[]): readonly Account[] {
    const wall = this.#setup.clock.wall();
    return budgets.map((budget) => this.#book.at(budget, wall));
  }

  /** A number for a new hold. Ids of requests will not do: callers may send their own. */
  newHold(): number {
    if (!this.#stopTimer) this.#schedule();
    return (this.#lastHold += 1);
  }

  /** A request waits for room of an account. Undefined: no store could give more. Otherwise resolves when the store has answered, or after `ms`. */
  answered(account: Account, ms: number): Promise<void> | undefined {
    if (!this.#leases) return undefined;
    this.#setup.families?.budgetWaits.add({ cap: this.#leases.isNear(account) ? 'near' : 'far' });
    return this.#leases.answered(ms);
  }

  /** The store does not answer: what requests need beyond their leases cannot be counted now. */
  get storeIsDown(): boolean {
    return this.#leases?.isDown ?? false;
  }

  refused({ why, account, amount }: ReservationRefusal): void {
    const { families, raise } = this.#setup;
    families?.budgetRefusals.add({ budget: account?.budget.name ?? '', why });
    if (why !== 'exceeded' || !account || account.hasRefused) return;
    account.hasRefused = true;
    raise?.(exhaustedAlert(account, amount));
  }

  unpriced(requestId: string, model: string): void {
    const { families, log } = this.#setup;
    families?.budgetUnpriced.add({});
    log?.warn({ request_id: requestId, model }, 'a request was sent whose price is not known; budgets do not count it');
  }

  overrun(what: Overrun): void {
    this.#setup.families?.budgetOverruns.add({ what });
  }

  async close(): Promise<void> {
    this.#stopTimer?.();
    await this.#leases?.close();
  }

  #schedule(): void {
    this.#stopTimer = this.#setup.clock.after(SWEEP_MS, () => {
      this.#sweep();
      // The next hold starts it again: without one, nothing changes.
      this.#stopTimer = undefined;
      if (this.reservations.size > 0) this.#schedule();
    });
  }

  #sweep(): void {
    const { clock, log, families } = this.#setup;
    const expired = this.reservations.expire(clock.now()).length;
    if (expired > 0) {
      families?.budgetExpired.add({}, expired);
      log?.warn({ requests: expired }, 'requests ended without a settle; their reserves count as spent');
    }
    for (const account of this.#book) {
      this.#level(account);
      this.#alert(account);
    }
    const offset = clock.wall() - clock.now();
    const ms = Math.round(offset - this.#offset);
    this.#offset = offset;
    if (ms > CLOCK_FORWARD_MS)
      log?.error({ ms }, 'the clock of the machine went forward; periods of budgets may have begun too early');
  }

  /** The labels are of the settings, so that their number is bounded. */
  #level({ budget, used, held, others }: Account): void {
    const { families } = this.#setup;
    const labels = { budget: budget.name, unit: budget.unit };
    families?.budgetSpent.set(labels, inUnit(budget.unit, Math.max(0, used + others)));
    families?.budgetHeld.set(labels, inUnit(budget.unit, held));
    families?.budgetCap.set(labels, inUnit(budget.unit, budget.amount));
  }

  #alert(account: Account): void {
    const reached = account.budget.alerts.findLast((percent) => percent <= account.percent);
    if (reached === undefined || reached <= account.alerted) return;
    account.alerted = reached;
    this.#setup.raise?.(budgetAlert(account, reached));
  }
}

function budgetAlert(account: Account, percent: number): Alert {
  const { name, unit, amount, alerts } = account.budget;
  const text = `The budget ${name} has reached ${percent} % of ${amountText(unit, amount)}.`;
  return { ...about(account, percent, bitsOf(alerts).slice(0, alerts.indexOf(percent) + 1)), kind: 'budget', text };
}

/** The alert of the first refusal of a period. @param reserve the amount that did not fit */
function exhaustedAlert(account: Account, reserve: number): Alert {
  const { budget } = account;
  const percent = Math.floor(Math.min(account.percent, 1000));
  const { data, ...rest } = about(account, percent, [EXHAUSTED_BIT]);
  const text = `The budget ${budget.name} refuses requests: ${percent} % of ${amountText(budget.unit, budget.amount)} are spent and reserved, and a request needs ${amountText(budget.unit, reserve)}.`;
  return { ...rest, kind: 'exhausted', text, data: { ...data, reserve: inUnit(budget.unit, reserve) } };
}

const inUnit = (unit: Account['budget']['unit'], value: number): number =>
  unit === 'usd' ? value / NANO_PER_USD : value;

function about({ budget, span, used, held, others }: Account, percent: number, bits: readonly number[]) {
  const { name, node, unit, amount, models, period } = budget;
  return {
    nodes: [node.ref],
    data: {
      budget: name,
      percent,
      unit,
      cap: inUnit(unit, amount),
      spent: inUnit(unit, Math.max(0, used + others)),
      held: inUnit(unit, held),
      period,
      ...(span.start > 0 && { period_start: new Date(span.start).toISOString() }),
      ...(span.end !== Infinity && { period_end: new Date(span.end).toISOString() }),
      ...(models && { models }),
    },
    once: { counter: { node: budget.id, period: span.start }, bits },
  };
}
