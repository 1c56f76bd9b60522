import type { Account } from '../../governance/accounts.ts';
import { amountIn, type Amounts } from '../../governance/reservations.ts';
import { accountLine, type AccountAmount } from '../../state/spool/spool-lines.ts';

interface Entry {
  readonly number: number;
  /** What it has used, as the spool has it. The account itself may be ahead by what is settled in this turn. */
  used: number;
  /** The lease that the spool names. */
  lease: number;
}

/** The accounts of budgets that the spool of a process names, by number. */
export class SpooledAccounts {
  readonly #entries = new Map<Account, Entry>();
  readonly #byNumber = new Map<number, Entry>();
  #last = 0;

  /** Lines for the accounts that the spool does not name yet, or not with their lease. */
  newLines(accounts: readonly Account[]): string {
    let lines = '';
    for (const account of accounts) {
      const entry = this.#entries.get(account);
      if (entry?.lease === account.lease) continue;
      const known = entry ?? { number: (this.#last += 1), used: 0, lease: 0 };
      known.lease = account.lease;
      this.#entries.set(account, known);
      this.#byNumber.set(known.number, known);
      lines += lineOf(account, known);
    }
    return lines;
  }

  /** Adds the part of each account in amounts to a list, and returns it. */
  addAmounts(to: AccountAmount[], accounts: readonly Account[], amounts: Amounts): AccountAmount[] {
    for (const account of accounts) {
      const entry = this.#entries.get(account);
      if (entry) to.push([entry.number, amountIn(amounts, account.budget)]);
    }
    return to;
  }

  /** Counts amounts as used. */
  count(amounts: readonly AccountAmount[]): void {
    for (const [number, amount] of amounts) {
      const entry = this.#byNumber.get(number);
      if (entry) entry.used += amount;
    }
  }

  /** All accounts of which the store may not have everything yet. */
  checkpoint(): string {
    let lines = '';
    for (const [account, entry] of this.#entries)
      if (account.returned) {
        this.#entries.delete(account);
        this.#byNumber.delete(entry.number);
      } else {
        entry.lease = account.lease;
        lines += lineOf(account, entry);
      }
    return lines;
  }

  /** The store has everything that was counted. */
  areClosed(): boolean {
    return [...this.#entries.keys()].every(({ returned }) => returned);
  }
}

const lineOf = ({ budget, span }: Account, { number, lease, used }: Entry): string =>
  accountLine({ number, node: budget.id, period: span.start, lease, used });
