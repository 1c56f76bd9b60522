import type { Clock } from '../../../../plugin/index.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { LedgerRow } from '../../../../core/ports/ledger.ts';

/** A standby that is further behind is of no use to a failover. */
const KEPT_MS = 60_000;
/** Rows of 400 bytes. Beyond them the older ones are forgotten. */
const MAX_ROWS = 20_000;

interface RecentRowsSetup {
  readonly clock: Pick<Clock, 'now'>;
  /** Grows when a connection breaks: the next one may reach another server. */
  readonly breaks: () => number;
  /** Returns the number of rows that the ledger lacked; the others change nothing. */
  readonly append: (rows: readonly LedgerRow[]) => Promise<number>;
}

/** The rows that the store has confirmed within the last minute. After a failover to a standby that lacks their commits they are sent again. */
export class RecentRows {
  readonly #setup: RecentRowsSetup;
  #batches: { readonly rows: readonly LedgerRow[]; at: number }[] = [];
  #size = 0;
  #breaks = 0;

  constructor(setup: RecentRowsSetup) {
    this.#setup = setup;
  }

  confirmed(rows: readonly LedgerRow[]): void {
    const now = this.#setup.clock.now();
    this.#batches.push({ rows, at: now });
    this.#size += rows.length;
    while (this.#batches[0] && (this.#batches[0].at < now - KEPT_MS || this.#size > MAX_ROWS))
      this.#size -= this.#batches.shift()!.rows.length;
  }

  /** Call it before an append, and now and then. Rejects while the store does not answer: the next call sends all of them again. */
  async sendAgain(): Promise<void> {
    const breaks = this.#setup.breaks();
    if (breaks === this.#breaks) return;
    const { clock } = this.#setup;
    const from = clock.now() - KEPT_MS;
    for (const batch of this.#batches.filter(({ at }) => at >= from))
      // A second failover may lose this commit, too.
      if ((await this.#send(batch.rows)) > 0) batch.at = clock.now();
    this.#breaks = breaks;
  }

  /** Rows that the ledger refuses by now, such as those of a day that was dropped meanwhile, keep no others out. */
  async #send(rows: readonly LedgerRow[]): Promise<number> {
    try {
      return await this.#setup.append(rows);
    } catch (error) {
      if (!(error instanceof StateFailure) || error.code === 'unavailable') throw error;
      return 0;
    }
  }
}
