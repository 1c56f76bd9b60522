import { MAX_NANO } from '../../../core/ports/counters.ts';
import type { Account } from './accounts.ts';
import type { Budget } from '../../../core/tenants/tree.ts';

/** The highest cost of a request, or its real cost. A budget counts one of the two figures. */
export interface Amounts {
  /** Nano-USD. */
  readonly usd: number;
  readonly tokens: number;
}

export const amountIn = ({ usd, tokens }: Amounts, { unit }: Pick<Budget, 'unit'>): number =>
  unit === 'usd' ? usd : tokens;

/** A hold is one open reservation, of one attempt. The process gives each number once. */
export type HoldId = number;

export interface Reservation {
  readonly hold: HoldId;
  /** Accounts of the budgets on the path, the outer nodes first. */
  readonly accounts: readonly Account[];
  readonly amounts: Amounts;
  /** Monotonic milliseconds after which the hold is settled at its reserve. */
  readonly until: number;
  /** True: a budget whose store does not answer admits the amount, and counts it. */
  readonly whileDown?: boolean | undefined;
  /** Monotonic milliseconds at which it was first refused as `unavailable`. Undefined: this is the first try. */
  readonly since?: number | undefined;
}

export interface ReservationRefusal {
  /** exceeded: the budget cannot cover it. unavailable: the store must be asked first, or the process has too many reserves. */
  readonly why: 'exceeded' | 'unavailable';
  /** Undefined: the process holds as many reserves as it can. */
  readonly account: Account | undefined;
  readonly amount: number;
}

export interface RoomSource {
  /** A reserve of `need` is counted. Asks the store for more if little is left. */
  low(account: Account, need: number): void;
  /**
   * A reserve of `need` does not fit. True: the store has to be asked, or is; its last answer does not tell.
   * @param since as in Reservation
   */
  short(account: Account, need: number, since: number | undefined): boolean;
  /** The amount that a reserve of `need` may take beyond the account's room. */
  credit(account: Account, need: number): number;
  /** A retired account has no open hold any more. */
  drained(account: Account): void;
}

const NO_SOURCE: RoomSource = { low() {}, short: () => false, credit: () => 0, drained() {} };

/** Held reserves of one process. Each takes some 300 bytes. */
export const MAX_HOLDS = 100_000;
/** Holds that one call of `expire` looks at: 100,000 would take 8 ms (measured). */
const MAX_SWEPT = 20_000;
/** Expired holds whose late settle would still correct them. */
const MAX_EXPIRED = 10_000;

interface Hold {
  readonly accounts: readonly Account[];
  usd: number;
  tokens: number;
  readonly until: number;
}

/** Amounts that requests have reserved and spent: on every budget of their path or on none. Calls may be repeated for a hold. */
export class Reservations {
  readonly #source: RoomSource;
  readonly #open = new Map<HoldId, Hold>();
  #sweep: MapIterator<[HoldId, Hold]> | undefined;
  /** Settled at their reserve because their settle did not come in time. */
  readonly #expired = new Map<HoldId, Hold>();

  constructor(source: RoomSource = NO_SOURCE) {
    this.#source = source;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Undefined: reserved. A hold that is open already stays as it is. */
  reserve({ hold, accounts, amounts, until, whileDown = false, since }: Reservation): ReservationRefusal | undefined {
    if (this.#open.has(hold)) return undefined;
    if (this.#open.size >= MAX_HOLDS) return { why: 'unavailable', account: undefined, amount: 0 };
    const short = this.#short(accounts, amounts, { since, whileDown });
    if (short && !(whileDown && short.why === 'unavailable')) return short;
    for (const account of accounts) {
      const amount = amountIn(amounts, account.budget);
      account.held += amount;
      account.holds += 1;
      this.#source.low(account, amount);
    }
    this.#expired.delete(hold);
    this.#open.set(hold, { accounts, usd: amounts.usd, tokens: amounts.tokens, until });
    return undefined;
  }

  /** Reserves more for a hold that turned out too small. Undefined: it has grown; otherwise it stays as it is. */
  grow(hold: HoldId, by: Amounts): ReservationRefusal | undefined {
    const held = this.#open.get(hold);
    if (!held) return { why: 'unavailable', account: undefined, amount: 0 };
    const short = this.#short(held.accounts, by, {});
    if (short) return short;
    for (const account of held.accounts) {
      const amount = amountIn(by, account.budget);
      account.held += amount;
      this.#source.low(account, amount);
    }
    held.usd += by.usd;
    held.tokens += by.tokens;
    return undefined;
  }

  /** Books the real cost. An expired hold is corrected. False: the hold is unknown or was settled before. */
  settle(hold: HoldId, cost: Amounts): boolean {
    const held = this.#open.get(hold);
    if (held) {
      this.#open.delete(hold);
      this.#book(held, cost);
      return true;
    }
    const expired = this.#expired.get(hold);
    if (!expired) return false;
    this.#expired.delete(hold);
    for (const account of expired.accounts)
      use(account, amountIn(cost, account.budget) - amountIn(expired, account.budget));
    return true;
  }

  /** Nothing was sent: the whole amount is free again. An expired hold is corrected. */
  release(hold: HoldId): void {
    this.settle(hold, NOTHING);
  }

  /** Settles holds at their reserve whose time has passed, so that no lost request keeps room for ever. Returns their ids. */
  expire(now: number): readonly HoldId[] {
    const ids: HoldId[] = [];
    this.#sweep ??= this.#open.entries();
    for (let seen = 0; seen < MAX_SWEPT; seen++) {
      const next = this.#sweep.next();
      if (next.done) {
        this.#sweep = undefined;
        break;
      }
      const [id, hold] = next.value;
      if (hold.until > now) continue;
      this.#open.delete(id);
      this.#book(hold, hold);
      this.#expired.set(id, hold);
      ids.push(id);
    }
    for (const id of this.#expired.keys()) {
      if (this.#expired.size <= MAX_EXPIRED) break;
      this.#expired.delete(id);
    }
    return ids;
  }

  #book(hold: Hold, cost: Amounts): void {
    for (const account of hold.accounts) {
      account.held -= amountIn(hold, account.budget);
      use(account, amountIn(cost, account.budget));
      account.holds -= 1;
      if (account.retired && account.holds === 0) this.#source.drained(account);
    }
  }

  /** The refusal of the first account that cannot cover its amount; one that is exceeded before one that has to be asked. */
  #short(
    accounts: readonly Account[],
    amounts: Amounts,
    { since, whileDown = false }: Pick<Reservation, 'since' | 'whileDown'>,
  ): ReservationRefusal | undefined {
    let refusal: ReservationRefusal | undefined;
    for (const account of accounts) {
      const amount = amountIn(amounts, account.budget);
      if (!account.budget.hard || amount === 0 || amount <= account.limit - account.used - account.held) continue;
      if (amount <= account.room + this.#source.credit(account, amount)) continue;
      // The free amount of the last answer is out of date while a new question is under way.
      const isAsked = !whileDown && amount <= account.budget.amount && this.#source.short(account, amount, since);
      if (!isAsked && amount > account.room + account.free) return { why: 'exceeded', account, amount };
      refusal ??= { why: 'unavailable', account, amount };
    }
    return refusal;
  }
}

const NOTHING: Amounts = { usd: 0, tokens: 0 };

/** The store refuses a total above `MAX_NANO`, and one refused total makes it refuse the whole report. */
function use(account: Account, amount: number): void {
  account.used = Math.min(MAX_NANO, account.used + amount);
}
