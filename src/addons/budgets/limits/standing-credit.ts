import {
  creditOf,
  type CounterRef,
  type CounterState,
  type CreditAnswer,
  type CreditUse,
} from '../../../core/ports/counters.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { Account } from './accounts.ts';

/** Two reports: a process whose last answer is older uses no credit. */
const FRESH_MS = 2000;
/** A request of which fewer than four fit into the credit does not use it: the leases of such a counter are few requests long. */
const LEAST_REQUESTS = 4;
/** Tight counters that a process knows; with more it uses no credit. */
const MAX_TIGHT = 200_000;

const NONE: CreditUse = { parts: 0, knows: 0 };

/** An account, as this process knows the amounts that the store has of it. */
export interface UncoveredAccount {
  readonly account: Account;
  /** The amount that is used and held beyond the grants and counts of the store. */
  readonly uncovered: number;
}

/**
 * The standing credit of this process: what it may use and hold of a counter beyond its lease, if it has one. It needs no row and no
 * question: the store tells each process which counters are tight, also of those that the process has not touched.
 */
export class StandingCredit {
  readonly #clock: Clock;
  /** Undefined: the store has not been asked yet. */
  #isGiven: boolean | undefined;
  /** The parts that the process uses, by its last answer. */
  #use = NONE;
  /** Its last words to the store. */
  #told = NONE;
  #isWhole = false;
  /** When the last answered question was asked. */
  #askedAt = -Infinity;
  #askedAtWall = -Infinity;
  /** The latest period of each node in which its counter is tight. */
  readonly #tight = new Map<CounterRef['node'], CounterRef['period']>();
  /** Accounts that others have replaced and that the store does not have whole, by counter: no other account of it uses credit. */
  readonly #replaced = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isGiven(): boolean {
    return this.#isGiven === true;
  }

  /** The store has not said yet whether it gives credit. */
  get isUnknown(): boolean {
    return this.#isGiven === undefined;
  }

  /** The store knows further counters that are tight. */
  get hasMore(): boolean {
    return this.isGiven && !this.#isWhole;
  }

  /** The amount that the account may use and hold beyond its lease, for a reserve of `need`. */
  of(account: Account, need: number): number {
    if (this.#use.parts === 0 || account.retired) return 0;
    const { budget, span } = account;
    if (this.#clock.now() - this.#askedAt > FRESH_MS) return 0;
    // A machine that slept knows it by its wall clock alone. The store counts no credit of a process that was silent in a whole period.
    if (span.start > this.#askedAtWall + FRESH_MS) return 0;
    const credit = this.#within(account);
    if (credit < LEAST_REQUESTS * need || this.#replaced.has(nameOf(account))) return 0;
    return budget.hard ? credit : 0;
  }

  /** The credit of the process now, as it can tell the store. @param accounts those that the call does not cover itself */
  useOf(accounts: Iterable<UncoveredAccount>): CreditUse {
    for (const { account, uncovered } of accounts)
      if (account.budget.hard && uncovered > this.#within(account))
        // More is in use than what the last answer admits: the statement before still holds.
        return (this.#told = { ...this.#told, parts: Math.max(this.#told.parts, this.#use.parts) });
    return (this.#told = this.#use);
  }

  /** @param asked when the question was asked, by both clocks */
  answered(answer: CreditAnswer | undefined, asked: { readonly now: number; readonly wall: number }): void {
    this.#isGiven = answer !== undefined;
    if (!answer) return;
    for (const { isTight, ...counter } of answer.changes) this.#note(counter, isTight);
    this.#isWhole = answer.isWhole;
    const knowsAll = this.#isWhole && this.#tight.size < MAX_TIGHT;
    this.#use = { parts: knowsAll ? answer.parts : 0, knows: answer.knows };
    this.#askedAt = asked.now;
    this.#askedAtWall = asked.wall;
  }

  /** The store has answered about a counter itself. */
  heard(counter: CounterState): void {
    if (counter.tight) this.#note(counter, counter.tight.since > 0);
  }

  readonly isTight = ({ budget, span }: Account): boolean => (this.#tight.get(budget.id) ?? -1) >= span.start;

  replaced(account: Account): void {
    const name = nameOf(account);
    this.#replaced.set(name, (this.#replaced.get(name) ?? 0) + 1);
  }

  /** The store has the whole amount of a replaced account. */
  returned(account: Account): void {
    const name = nameOf(account);
    const left = (this.#replaced.get(name) ?? 0) - 1;
    if (left > 0) this.#replaced.set(name, left);
    else this.#replaced.delete(name);
  }

  readonly #within = (account: Account): number =>
    this.isTight(account) ? 0 : creditOf(account.budget.amount, this.#use.parts);

  #note({ node, period }: CounterRef, isTight: boolean): void {
    const known = this.#tight.get(node);
    if (!isTight) {
      if (known === period) this.#tight.delete(node);
    } else if (known === undefined || known < period) this.#tight.set(node, period);
  }
}

const nameOf = ({ budget, span }: Account): string => `${span.start} ${budget.id}`;
