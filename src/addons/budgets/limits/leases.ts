import {
  MAX_NANO,
  type Boot,
  type Counters,
  type CounterState,
  type Grant,
  type LeaseId,
  type LeaseState,
} from '../../../core/ports/counters.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { Account, AccountBook, AccountRules } from './accounts.ts';
import { AnswerTime, shareOf, wantOf } from './lease-size.ts';
import type { RoomSource } from './reservations.ts';
import { newSlice, onCredit, refOf, type Slice } from './slice.ts';
import { StandingCredit, type UncoveredAccount } from './standing-credit.ts';
import { StoreTurns } from './store-turns.ts';

/** The shortest time between two questions for an account without free room. */
const AGAIN_MS = 1000;
/** The same where a request is refused for it: a refusal needs an answer that is younger than the request. */
const AGAIN_FULL_MS = 100;
/** Reports without a reserve after which an idle lease goes back, so that other processes can use it. */
const IDLE_REPORTS = 60;
const IDLE_REPORTS_TIGHT = 10;
/** Leases without a change are part of each tenth report. */
const REPORTS_OF_IDLE = 10;
/** Less of the cap is free. */
const TIGHT_SHARE = 0.2;
/** The same while the store is slow, because the next request would wait for a new lease, if others can get as much. */
const IDLE_REPORTS_SLOW = 300;
/** Asks, reports and leases of one call to the store. */
const MAX_BATCH = 1000;

interface LeasesOptions {
  readonly counters: Pick<Counters, 'take' | 'report' | 'giveBack'>;
  readonly boot: Boot;
  readonly clock: Clock;
  /** Called when the store fails, and when it answers again. */
  readonly onStore: (failure: Error | undefined) => void;
  /** A lease was declared lost: the process did not report for too long. */
  readonly onLost: (account: Account) => void;
  /** Called before a lease is asked for, and when the account has it. */
  readonly onLease?: ((account: Account) => void) | undefined;
}

/**
 * Leases of this process: it reserves within the store's grants, asks for more ahead, and reports totals each second. After
 * each grant `spent + leased + unreconciled <= cap` holds in the store, and at each reserve `used + held <= granted` here. So the
 * overspending of a cap is at most the cost beyond their reserves of the requests that were in flight when their process reserved last.
 */
export class Leases implements AccountRules, RoomSource {
  readonly #options: LeasesOptions;
  readonly #slices = new Map<Account, Slice>();
  readonly #owners = new Map<LeaseId, Account>();
  /** Accounts that need room, with the smallest useful grant and the sum of all needs. */
  readonly #wanted = new Map<Account, { least: number; sum: number }>();
  /** Accounts whose lease does not live any more, as a grant has told. */
  readonly #doubtful = new Set<Account>();
  /** Retired accounts without open holds. */
  readonly #done = new Set<Account>();
  readonly #turns: StoreTurns;
  #book: AccountBook | undefined;
  #batch = 0;
  #last: LeaseId = 0;
  #live = 1;
  readonly #credit: StandingCredit;
  readonly #answerTime = new AnswerTime();

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.#credit = new StandingCredit(options.clock);
    const { clock, onStore } = options;
    this.#turns = new StoreTurns({ clock, onStore, work: () => this.#work() });
  }

  /** @param book the accounts of the process, which use these leases as their rules */
  start(book: AccountBook): void {
    this.#book = book;
    this.#turns.start();
  }

  readonly leased = true;

  limitOf(): number {
    return 0;
  }

  opened(account: Account): void {
    this.#slices.set(account, newSlice());
    // Until the store answers, this process assumes that the whole cap is free.
    account.free = account.budget.amount;
  }

  retired(account: Account): void {
    this.#wanted.delete(account);
    this.#credit.replaced(account);
    if (account.holds === 0) this.drained(account);
  }

  drained(account: Account): void {
    this.#done.add(account);
  }

  low(account: Account, need: number): void {
    const slice = this.#slices.get(account);
    if (!slice) return;
    slice.level = account.used + account.held;
    if (account.retired) return;
    const { room, free, budget } = account;
    if (room >= need && room >= slice.grant / 2) return;
    const now = this.#options.clock.now();
    if (this.#turns.isPaused) return;
    // If the store had no room to grant, later requests do not repeat the question before `askAgainAt`.
    if (now < slice.askAgainAt && budget.hard && need > room + free) return;
    this.#want(account, slice, need);
    const credit = this.credit(account, need);
    // All questions of a second are one call, unless a request may have to wait for it.
    if (credit === 0 || need > room + credit) this.#turns.soon();
  }

  short(account: Account, need: number, since: number | undefined): boolean {
    const slice = this.#slices.get(account);
    if (!slice || account.retired) return false;
    const { room, free } = account;
    const now = this.#options.clock.now();
    const isFleet = this.#credit.isGiven;
    // In a fleet others give back what they do not use, and their answers are as old as their last use of the counter.
    if (this.#turns.isPaused) return isFleet;
    const isFull = need > room + free;
    const isFresh = isFleet ? since !== undefined && slice.askedAt >= since : now < slice.askAgainAt;
    if (isFull && isFresh) return false;
    this.#want(account, slice, need);
    if (isFull && isFleet) this.#turns.at(slice.answeredAt + AGAIN_FULL_MS);
    else this.#turns.soon();
    return true;
  }

  credit(account: Account, need: number): number {
    return this.#credit.of(account, need);
  }

  #want(account: Account, slice: Slice, need: number): void {
    const least = Math.max(1, need - account.room - onCredit(account, slice));
    const wanted = this.#wanted.get(account);
    if (!wanted) this.#wanted.set(account, { least, sum: least });
    else {
      wanted.least = Math.min(wanted.least, least);
      wanted.sum += need;
    }
  }

  get isDown(): boolean {
    return this.#turns.isDown;
  }

  answered(ms: number): Promise<void> {
    return this.#turns.answered(ms);
  }

  async close(): Promise<void> {
    await this.#turns.stop();
    await this.#end().catch((error: unknown) => this.#turns.fail(error));
  }

  /** Amounts that were on credit get their leases, so that they are reported like all others. */
  async #end(): Promise<void> {
    this.#turns.isReportDue = true;
    await this.#take();
    while (this.#wanted.size > 0) await this.#take(false);
    for (const account of this.#slices.keys()) this.#done.add(account);
    await this.#report();
    await this.#giveBack();
    const { counters, boot } = this.#options;
    if (this.#batch > 0 && this.#slices.size === 0) await counters.giveBack([], boot, this.#last);
  }

  async #work(): Promise<void> {
    try {
      const isReport = this.#turns.isReportDue;
      if (isReport || this.#done.size > 0 || this.#doubtful.size > 0) await this.#report();
      // Leases go back before new ones are taken. The store has one lease per process and counter: otherwise a new account would get the
      // lease of the account that it replaces.
      await this.#giveBack();
      await this.#take(isReport);
    } catch (error) {
      // Requests use the leases that the process has until nothing of them is left. A later request of each account asks again.
      this.#wanted.clear();
      throw error;
    }
  }

  async #take(isReport = true): Promise<void> {
    const { counters, boot, clock } = this.#options;
    if (isReport) this.#wantCovers();
    const asked = [...this.#wanted].slice(0, MAX_BATCH);
    for (const [account] of asked) {
      this.#wanted.delete(account);
      this.#options.onLease?.(account);
    }
    this.#turns.isUrgent &&= this.#wanted.size > 0;
    this.#turns.asking();
    const covered = new Set(asked.map(([account]) => account));
    const credit =
      (asked.length > 0 && this.#credit.isUnknown) || this.#credit.hasMore || (isReport && this.#credit.isGiven)
        ? this.#credit.useOf(this.#uncovered(covered))
        : undefined;
    if (asked.length === 0 && !credit) return;
    this.#batch += 1;
    const asks = asked.map(([account, need]) => this.#askOf(account, need));
    const at = { now: clock.now(), wall: clock.wall() };
    const result = await this.#timed(() => this.#repeated(() => counters.take(asks, boot, this.#batch, credit)));
    this.#live = Math.max(1, result.live);
    if (credit) this.#credit.answered(result.credit, at);
    this.#turns.isUrgent ||= this.#credit.hasMore;
    for (const [index, [account]] of asked.entries()) {
      const grant = result.grants[index];
      const state = grant?.leases[0];
      if (grant && state) this.#granted(account, grant, { state, askedAt: at.now });
    }
  }

  /** Amounts on credit, and those that were admitted without a lease while the store was away, get leases with the next report. */
  #wantCovers(): void {
    for (const [account, slice] of this.#slices) {
      if (slice.isReplaced || this.#wanted.has(account)) continue;
      const isCredit = this.#credit.isGiven && account.budget.hard && onCredit(account, slice) > 0;
      if (isCredit || (slice.lease === 0 && account.used > 0)) this.#wanted.set(account, NOTHING_MORE);
    }
  }

  *#uncovered(covered: ReadonlySet<Account>): Generator<UncoveredAccount> {
    for (const [account, slice] of this.#slices)
      if (slice.isReplaced || !covered.has(account)) yield { account, uncovered: onCredit(account, slice) };
  }

  /** A lost answer would leave its grant unused: the same batch again returns the same answer. */
  async #repeated<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch {
      return question();
    }
  }

  async #timed<T>(question: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const from = clock.now();
    const answer = await question();
    this.#answerTime.note(clock.now() - from);
    return answer;
  }

  #askOf(account: Account, { least, sum }: { readonly least: number; readonly sum: number }) {
    const { budget, free, limit } = account;
    const need = Math.min(MAX_NANO, Math.ceil(least));
    const slice = this.#slices.get(account)!;
    const { lease, pace } = slice;
    const { isSlow } = this.#answerTime;
    const want =
      need === 0 ? 0 : wantOf({ free, live: this.#live, need, sum, ahead: pace.ahead, hard: budget.hard, isSlow });
    // Without a lease nothing can be reported.
    const total = Math.max(limit + onCredit(account, slice), lease === 0 && account.used > 0 ? 1 : 0);
    const covers = [{ lease, total: Math.min(MAX_NANO, Math.ceil(total)) }];
    return { path: [refOf(account)], caps: [budget.hard ? budget.amount : undefined], covers, need, want };
  }

  #granted(
    account: Account,
    { granted }: Grant,
    { state, askedAt }: { readonly state: LeaseState; readonly askedAt: number },
  ): void {
    const slice = this.#slices.get(account);
    if (!slice) return;
    const now = this.#options.clock.now();
    Object.assign(slice, { askedAt, answeredAt: now });
    const owner = this.#owners.get(state.lease);
    if (owner && owner !== account) {
      // The lease of an account that this one has replaced, which counts on it until its requests have ended.
      slice.askAgainAt = now + AGAIN_MS;
      return;
    }
    if (slice.lease !== 0 && state.lease !== slice.lease) {
      // Its next report tells whether it is lost or unknown.
      this.#doubtful.add(account);
      this.#turns.isUrgent = true;
      return;
    }
    if (state.lease !== 0) {
      slice.lease = state.lease;
      this.#noteLease(account, state.lease);
      this.#owners.set(state.lease, account);
    }
    account.limit = state.granted;
    if (granted > 0) Object.assign(slice, { grant: granted, idle: 0 });
    else slice.askAgainAt = now + AGAIN_MS;
    this.#learn(account, slice, state.counter);
    if (granted > 0) this.#askForMore(account);
  }

  /** A lease whose size was chosen before the store became slow grows to its share at once. */
  #askForMore(account: Account): void {
    const { free, room, budget, retired } = account;
    if (!this.#answerTime.isSlow || !budget.hard || retired) return;
    if (room < 0 || room >= shareOf({ free, live: this.#live })) return;
    if (!this.#wanted.has(account)) this.#wanted.set(account, { least: 1, sum: 1 });
    this.#turns.isUrgent = true;
  }

  #noteLease(account: Account, lease: LeaseId): void {
    if (account.lease === lease) return;
    account.lease = lease;
    this.#last = Math.max(this.#last, lease);
    this.#options.onLease?.(account);
  }

  #learn(account: Account, slice: Slice, counter: CounterState | undefined): void {
    if (!counter) return;
    this.#credit.heard(counter);
    const { spent, leased, unreconciled } = counter;
    account.free = Math.max(0, account.budget.amount - spent - leased - unreconciled);
    account.others = Math.max(0, spent - slice.reported) + unreconciled;
  }

  /** Sends changed totals, which renews all leases. */
  async #report(): Promise<void> {
    const { counters, boot } = this.#options;
    const changed = [...this.#slices].filter(
      ([account, slice]) =>
        slice.lease !== 0 &&
        (account.used !== slice.reported ||
          (slice.idle > 0 && slice.idle % REPORTS_OF_IDLE === 0) ||
          this.#doubtful.has(account)),
    );
    this.#doubtful.clear();
    if (changed.length === 0 && this.#slices.size > 0) await counters.report([], boot);
    for (let from = 0; from < changed.length; from += MAX_BATCH) {
      const part = changed.slice(from, from + MAX_BATCH);
      const used = part.map(([account, { lease }]) => ({ lease, usedTotal: account.used }));
      const states = await this.#timed(() => counters.report(used, boot));
      for (const [index, [account, slice]] of part.entries()) {
        const state = states[index];
        if (state) this.#reported(account, slice, state, used[index]!.usedTotal);
      }
    }
    if (!this.#turns.isReportDue) return;
    this.#turns.isReportDue = false;
    for (const [account, slice] of this.#slices) {
      slice.pace.note(account.used + account.held);
      slice.idle = account.used === slice.usedBefore && account.holds === 0 ? slice.idle + 1 : 0;
      slice.usedBefore = account.used;
      if (slice.lease !== 0 && !account.retired && !this.#isKept(account, slice)) this.#renew(account, slice);
    }
  }

  /** An idle lease stays for a while, longer where others have room, and longest where the store is slow and each other process could get as much. */
  #isKept(account: Account, { idle }: Slice): boolean {
    const { room, free } = account;
    if (this.#answerTime.isSlow && idle <= IDLE_REPORTS_SLOW && room * this.#live <= free) return true;
    return idle <= (this.isNear(account) ? IDLE_REPORTS_TIGHT : IDLE_REPORTS);
  }

  isNear(account: Account): boolean {
    return account.free < account.budget.amount * TIGHT_SHARE || this.#credit.isTight(account);
  }

  #reported(account: Account, slice: Slice, state: LeaseState, usedTotal: number): void {
    slice.reported = usedTotal;
    this.#learn(account, slice, state.counter);
    if (state.state === 'live') account.limit = state.granted;
    else if (state.state === 'unknown' && this.#credit.isGiven && !slice.isReplaced) this.#begin(account, slice);
    else this.#lose(account, slice);
  }

  /** A failover lost the lease: what is used and held on it counts on the next one. */
  #begin(account: Account, slice: Slice): void {
    this.#owners.delete(slice.lease);
    Object.assign(slice, { lease: 0, reported: 0 });
    Object.assign(account, { lease: 0, limit: 0 });
    this.#wanted.set(account, NOTHING_MORE);
  }

  /** Open holds stay with the old lease, which still takes reports; new requests get a new one. */
  #lose(account: Account, slice: Slice): void {
    if (!account.retired) this.#options.onLost(account);
    this.#renew(account, slice);
  }

  #renew(account: Account, slice: Slice): void {
    slice.isReplaced = true;
    this.#book?.renew(account);
  }

  /** Amounts that were used without a lease have to be covered first. */
  #isReported(account: Account): boolean {
    const slice = this.#slices.get(account);
    return !slice || (slice.lease === 0 ? account.used <= 0 : slice.reported === account.used);
  }

  async #giveBack(): Promise<void> {
    const { counters, boot } = this.#options;
    // An account that has settled since its last report waits for the next one: the store frees everything that was not reported.
    const done = [...this.#done].filter((account) => this.#isReported(account));
    const leases = done.flatMap((account) => {
      const lease = this.#slices.get(account)?.lease ?? 0;
      return lease === 0 ? [] : [lease];
    });
    for (let from = 0; from < leases.length; from += MAX_BATCH)
      await counters.giveBack(leases.slice(from, from + MAX_BATCH), boot);
    for (const lease of leases) this.#owners.delete(lease);
    for (const account of done) {
      account.returned = true;
      if (account.retired) this.#credit.returned(account);
      this.#done.delete(account);
      this.#slices.delete(account);
    }
  }
}

const NOTHING_MORE = { least: 0, sum: 0 };
