import type { CounterSource } from '../../../core/ports/counters.ts';
import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import { BudgetAccounting } from '../limits/budget-accounting.ts';
import type { Account } from '../limits/accounts.ts';
import type { ReservationRefusal } from '../limits/reservations.ts';
import type { NodeChanges, NodeTree } from '../../../core/tenants/tree.ts';
import { LearnedSizes } from '../prices/learned-sizes.ts';
import type { Overrun } from './overrun.ts';
import type { Families } from '../../../core/record/metrics/open-families.ts';
import type { RequestLedger } from '../ledger/request-ledger.ts';

const NANO_PER_USD = 1e9;

export interface BudgetStateSetup {
  readonly clock: Clock;
  readonly log?: Pick<Logger, 'warn' | 'error' | 'info'>;
  readonly families?: Families;
  /** Undefined: this process counts alone, in memory. */
  readonly shared?: CounterSource | undefined;
  /** The counts end with this process. The log then has one warning, if there are budgets. */
  readonly inMemory?: boolean;
  /** A budget has reached an alert, as far as this process knows. */
  readonly onAlert?: (account: Account, percent: number) => void;
  /** The first refusal of a budget in a period, as far as this process knows. @param amount the reserve that did not fit */
  readonly onExhausted?: ((account: Account, amount: number) => void) | undefined;
  /** Follows what is sent. Undefined: there is no state store. */
  readonly ledger?: RequestLedger | undefined;
}

/** The budget accounting of a process, and the sizes of requests that it has learned. Both outlive settings. */
export class BudgetState {
  readonly accounting: BudgetAccounting;
  readonly learned = new LearnedSizes();
  readonly ledger: RequestLedger | undefined;
  readonly #log: BudgetStateSetup['log'];
  readonly #families: Families | undefined;
  readonly #onExhausted: BudgetStateSetup['onExhausted'];
  #isSaid: boolean;

  constructor(setup: BudgetStateSetup) {
    const { clock, log, families, shared, inMemory = false, ledger, onAlert } = setup;
    this.#onExhausted = setup.onExhausted;
    this.#isSaid = !inMemory;
    this.#families = families;
    this.ledger = ledger;
    this.#log = log;
    this.accounting = new BudgetAccounting(
      clock,
      {
        ...(onAlert && { alert: onAlert }),
        level: (account) => this.#level(account),
        expired: (count) => {
          families?.budgetExpired.add({}, count);
          log?.warn({ requests: count }, 'requests ended without a settle; their reserves count as spent');
        },
        clockForward: (ms) =>
          log?.error(
            { ms: Math.round(ms) },
            'the clock of the machine went forward; periods of budgets may have begun too early',
          ),
        store: (failure) => {
          if (failure) log?.error({ err: failure }, 'the store of the budgets does not answer');
          else log?.info('the store of the budgets answers again');
        },
        leased: (account) => ledger?.leased(account),
        lost: ({ budget }) => {
          families?.budgetLeasesLost.add({});
          log?.error({ budget: budget.name }, 'the store has declared a lease of this process lost');
        },
      },
      shared,
    );
  }

  use(tree: NodeTree): void {
    this.accounting.use(tree);
    if (this.#isSaid || !tree.hasBudgets) return;
    this.#isSaid = true;
    this.#log?.warn('budgets are counted in memory: what is spent begins at zero with each start');
  }

  /** Nodes have changed while the settings are in force. */
  change(changes: NodeChanges): void {
    this.accounting.change(changes);
  }

  refused({ why, account, amount }: ReservationRefusal): void {
    this.#families?.budgetRefusals.add({ budget: account?.budget.name ?? '', why });
    if (why !== 'exceeded' || !account || account.hasRefused) return;
    account.hasRefused = true;
    this.#onExhausted?.(account, amount);
  }

  unpriced(requestId: string, model: string): void {
    this.#families?.budgetUnpriced.add({});
    this.#log?.warn(
      { request_id: requestId, model },
      'a request was sent whose price is not known; budgets do not count it',
    );
  }

  overrun(what: Overrun): void {
    this.#families?.budgetOverruns.add({ what });
  }

  close(): Promise<void> {
    return this.accounting.close();
  }

  /** The labels are of the settings, so that their number is bounded. */
  #level({ budget, used, held, others }: Account): void {
    const labels = { budget: budget.name, unit: budget.unit };
    const shown = (amount: number): number => (budget.unit === 'usd' ? amount / NANO_PER_USD : amount);
    this.#families?.budgetSpent.set(labels, shown(Math.max(0, used + others)));
    this.#families?.budgetHeld.set(labels, shown(held));
    this.#families?.budgetCap.set(labels, shown(budget.amount));
  }
}
