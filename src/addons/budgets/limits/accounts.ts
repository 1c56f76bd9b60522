import { periodsOf, type PeriodTable } from './periods.ts';
import type { Budget, Span } from '../../../core/tenants/tree.ts';

/** The amounts that this process has counted on one budget, in one period or on one lease. */
export class Account {
  budget: Budget;
  readonly span: Span;
  /** The most that `used` and `held` may reach: the cap, or the process's lease of it. Only a hard budget has it. */
  limit: number;
  used = 0;
  held = 0;
  holds = 0;
  /** The free amount beyond `limit` in the last answer of the store; 0 without a store. */
  free = 0;
  /** The amount spent by other processes and on earlier leases, in the last answer of the store. */
  others = 0;
  /** The highest alert that the process has seen, in percent. */
  alerted = 0;
  /** It has refused a request in this period, as far as the process knows. */
  hasRefused = false;
  /** True once an account of the next period or lease replaces this one. */
  retired = false;
  /** The store's id of its lease; 0: none yet, or no store. */
  lease = 0;
  /** The store has the whole amount `used`, and its lease back. */
  returned = false;

  constructor(budget: Budget, span: Span, limit: number) {
    this.budget = budget;
    this.span = span;
    this.limit = limit;
  }

  /** The amount that further reservations may take; below 0 after a settlement above its reservation. */
  get room(): number {
    return this.limit - this.used - this.held;
  }

  /** Percent of the cap that is spent or reserved, by all processes as far as this one knows. */
  get percent(): number {
    const { amount } = this.budget;
    const total = this.used + this.held + this.others;
    return amount === 0 ? (total > 0 ? Infinity : 0) : (total / amount) * 100;
  }

  /** The share of the cap that is spent, without what is reserved, by all processes as far as this one knows. */
  get spentShare(): number {
    return (this.used + this.others) / this.budget.amount;
  }
}

/** Chooses the limit of a new account, and takes over an account that another replaces. */
export interface AccountRules {
  /** The store grants room. Otherwise the process holds each cap whole. */
  readonly leased: boolean;
  limitOf(budget: Budget): number;
  opened(account: Account): void;
  retired(account: Account): void;
}

export const ALONE: AccountRules = {
  leased: false,
  limitOf: ({ amount }) => amount,
  opened() {},
  retired() {},
};

interface KnownAccount {
  readonly periods: PeriodTable;
  account: Account;
}

/** Accounts of budgets that the settings have no longer. */
const MAX_LEFT = 10_000;

export class AccountBook {
  readonly #rules: AccountRules;
  readonly #entries = new Map<string, KnownAccount>();
  readonly #left = new Set<string>();

  constructor(rules: AccountRules) {
    this.#rules = rules;
  }

  *[Symbol.iterator](): Generator<Account> {
    for (const { account } of this.#entries.values()) yield account;
  }

  /** The account of a budget at a moment of the wall clock. When the clock goes back, the later period stays. */
  at(budget: Budget, wall: number): Account {
    const entry = this.#entries.get(budget.id);
    if (!entry) return this.#open(budget, wall).account;
    if (wall >= entry.account.span.end) this.#replace(entry, entry.periods.at(wall));
    return entry.account;
  }

  /** Takes an account's place with a new one of the same period, whose counting begins at 0. */
  renew(account: Account): Account {
    const entry = this.#entries.get(account.budget.id);
    if (entry?.account !== account) return account;
    this.#replace(entry, account.span);
    return entry.account;
  }

  /** Caps change at once, and spent amounts stay. An account without its budget stays a while: a reload may bring it back. */
  use(budgets: Iterable<Budget>): void {
    const current = new Map([...budgets].map((budget) => [budget.id, budget]));
    this.#left.clear();
    for (const [id, entry] of this.#entries) {
      const budget = current.get(id);
      if (budget) this.#change(entry, budget);
      else this.#left.add(id);
    }
    this.#forgetLeft();
  }

  change(budgets: readonly Budget[], gone: readonly string[]): void {
    for (const budget of budgets) {
      const entry = this.#entries.get(budget.id);
      if (entry) this.#change(entry, budget);
      this.#left.delete(budget.id);
    }
    for (const id of gone) if (this.#entries.has(id)) this.#left.add(id);
    this.#forgetLeft();
  }

  #forgetLeft(): void {
    for (const id of this.#left) {
      if (this.#left.size <= MAX_LEFT) return;
      this.#left.delete(id);
      const entry = this.#entries.get(id);
      this.#entries.delete(id);
      if (entry) this.#retire(entry.account);
    }
  }

  #change(entry: KnownAccount, budget: Budget): void {
    const { account } = entry;
    const { amount, timeZone, dayOfMonth } = account.budget;
    const hasOtherPeriods = timeZone !== budget.timeZone || dayOfMonth !== budget.dayOfMonth;
    account.budget = budget;
    // The counter of a period is named by its start: a period that starts elsewhere has a counter of its own.
    if (hasOtherPeriods) this.#entries.delete(budget.id);
    if (hasOtherPeriods) this.#retire(account);
    else if (amount !== budget.amount) this.#recap(entry, amount);
  }

  #recap({ account }: KnownAccount, before: number): void {
    // An amount that is leased stays leased until it is used or idle: the store grants by the new cap.
    if (this.#rules.leased) account.free = Math.max(0, account.free + account.budget.amount - before);
    else account.limit = this.#rules.limitOf(account.budget);
  }

  #open(budget: Budget, wall: number): KnownAccount {
    const periods = periodsOf(budget, wall);
    const entry = { periods, account: new Account(budget, periods.at(wall), this.#rules.limitOf(budget)) };
    this.#entries.set(budget.id, entry);
    this.#rules.opened(entry.account);
    return entry;
  }

  #replace(entry: KnownAccount, span: Span): void {
    const { account } = entry;
    entry.account = new Account(account.budget, span, this.#rules.limitOf(account.budget));
    const { alerted, hasRefused } = account;
    if (span.start === account.span.start) Object.assign(entry.account, { alerted, hasRefused });
    this.#retire(account);
    this.#rules.opened(entry.account);
  }

  #retire(account: Account): void {
    account.retired = true;
    this.#rules.retired(account);
  }
}
