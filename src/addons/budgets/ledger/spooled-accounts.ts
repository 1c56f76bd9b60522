import type { Account } from '../limits/accounts.ts';
import type { Budget } from '../../../core/tenants/tree.ts';
import { amountIn, type Amounts } from '../limits/reservations.ts';
import type { LineBytes } from '../store/spool/line-bytes.ts';
import { accountLine, type AccountAmount, type AccountNumber } from '../store/spool/spool-lines.ts';

export interface SpoolEntry {
  readonly number: AccountNumber;
  readonly unit: Budget['unit'];
  /** The amount that it has used, as the spool has it. The account itself may be ahead by what is settled in this turn. */
  used: number;
  /** The cost of requests that have ended and are not in the spool yet. */
  closing: number;
  isClosing: boolean;
  lease: number;
}

export class SpooledAccounts {
  readonly #entries = new Map<Account, SpoolEntry>();
  #last = 0;
  #closing: SpoolEntry[] = [];

  /** Returns their entries, and writes lines for those that the spool does not name yet, or not with their lease. */
  entriesOf(accounts: readonly Account[], to: LineBytes): readonly SpoolEntry[] {
    return accounts.map((account) => {
      const known = this.#entries.get(account);
      const entry = known ?? this.#begin(account);
      if (!known || entry.lease !== account.lease) {
        entry.lease = account.lease;
        to.text(lineOf(account, entry));
      }
      return entry;
    });
  }

  /** A request has ended: its part counts on each account with the next write. */
  close(entries: readonly SpoolEntry[], amounts: Amounts): void {
    for (const entry of entries) {
      const amount = amountIn(amounts, entry);
      // A number that JSON does not have would be none for the next owner of the spool.
      if (Number.isFinite(amount)) entry.closing += amount;
      if (entry.isClosing) continue;
      entry.isClosing = true;
      this.#closing.push(entry);
    }
  }

  count(): readonly AccountAmount[] {
    const ended = this.#closing;
    this.#closing = [];
    return ended.map((entry) => {
      const { number, closing } = entry;
      entry.used += closing;
      entry.closing = 0;
      entry.isClosing = false;
      return [number, closing];
    });
  }

  /** Writes all accounts of which the store may not have everything yet. */
  checkpoint(to: LineBytes): void {
    for (const [account, entry] of this.#entries)
      if (account.returned) this.#entries.delete(account);
      else {
        entry.lease = account.lease;
        to.text(lineOf(account, entry));
      }
  }

  areClosed(): boolean {
    return [...this.#entries.keys()].every(({ returned }) => returned);
  }

  #begin(account: Account): SpoolEntry {
    this.#last += 1;
    const { unit } = account.budget;
    const entry = { number: this.#last, unit, used: 0, closing: 0, isClosing: false, lease: account.lease };
    this.#entries.set(account, entry);
    return entry;
  }
}

export const partsOf = (entries: readonly SpoolEntry[], amounts: Amounts): AccountAmount[] =>
  entries.map((entry) => [entry.number, amountIn(amounts, entry)]);

const lineOf = ({ budget, span }: Account, { number, lease, used }: SpoolEntry): string =>
  accountLine({ number, node: budget.id, period: span.start, lease, used });
