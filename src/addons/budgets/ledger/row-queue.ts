import type { Clock } from '../../../plugin/index.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import type { Ledger, LedgerRow } from '../../../core/ports/ledger.ts';
import { linesOf } from '../store/spool/read-spool.ts';
import type { Spool, SpoolSegment } from '../store/spool/spool.ts';
import type { LedgerReports } from './reports.ts';
import { toError } from '../../../core/kernel/outside/thrown.ts';

/** Rows of one write. More than 500 gain little (measured). */
const BATCH = 500;
/** Rows wait this long for others. */
const GATHER_MS = 200;
/** After a failure of the store. */
const AGAIN_MS = 1000;
/** Rows in memory that are in the spool too; further ones are only there. */
const MAX_SPOOLED = 10_000;
/** Rows in memory that are nowhere else; further ones are dropped. Each takes some 400 bytes. */
const MAX_WAITING = 100_000;

interface WaitingRow {
  readonly row: LedgerRow;
  /** Undefined: the row is in no spool. */
  segment: SpoolSegment | undefined;
}

interface RowQueueOptions {
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly reports: LedgerReports;
  readonly spool?: Spool | undefined;
  readonly newSegment: () => void;
}

/** Rows on their way to the ledger, in batches. While the store does not answer they wait in memory, then in the spool. */
export class RowQueue {
  readonly #options: RowQueueOptions;
  #waiting: WaitingRow[] = [];
  #spilled = 0;
  #running: Promise<void> | undefined;
  #isTimed = false;
  #failedUntil: number | undefined;
  #closed = false;

  constructor(options: RowQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length + this.#spilled;
  }

  /** No further row would be kept that is not in a spool. */
  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  add(rows: readonly LedgerRow[], segment: SpoolSegment | undefined): void {
    const { reports } = this.#options;
    for (const row of rows)
      if (segment && this.#waiting.length >= MAX_SPOOLED) {
        segment.spilled += 1;
        this.#spilled += 1;
      } else if (this.#waiting.length >= MAX_WAITING) reports.dropped('queue_full', 1);
      else {
        if (segment) segment.waiting += 1;
        this.#waiting.push({ row, segment });
      }
    reports.waiting(this.size);
    if (this.#waiting.length >= BATCH) this.#run();
    else this.#runLater(GATHER_MS);
  }

  unspooled(): readonly LedgerRow[] {
    return this.#waiting.flatMap(({ row, segment }) => (segment ? [] : [row]));
  }

  spooled(segment: SpoolSegment): void {
    for (const one of this.#waiting) {
      if (one.segment) continue;
      one.segment = segment;
      segment.waiting += 1;
    }
  }

  /** Writes what waits, as far as the store takes it. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    this.#failedUntil = undefined;
    await this.#work().catch((error: unknown) => this.#fail(error));
  }

  #runLater(ms: number): void {
    if (this.#isTimed || this.#closed) return;
    this.#isTimed = true;
    this.#options.clock.after(ms, () => {
      this.#isTimed = false;
      this.#run();
    });
  }

  #run(): void {
    if (this.#running || this.#closed) return;
    const { clock } = this.#options;
    if (clock.now() < (this.#failedUntil ?? 0)) return this.#runLater(AGAIN_MS);
    this.#running = this.#work()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#running = undefined;
        if (this.size > 0) this.#runLater(this.#failedUntil === undefined ? GATHER_MS : AGAIN_MS);
      });
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await this.#append(batch.map(({ row }) => row));
      // Rows are only added behind these.
      this.#waiting.splice(0, batch.length);
      for (const { segment } of batch) if (segment) segment.waiting -= 1;
      this.#wrote();
    }
    if (this.#spilled > 0) await this.#readSpilled();
    this.#options.spool?.tidy();
    this.#wrote();
  }

  #wrote(): void {
    const { reports, spool } = this.#options;
    reports.waiting(this.size);
    if (spool) reports.spoolBytes(spool.bytes);
    if (this.#failedUntil === undefined) return;
    this.#failedUntil = undefined;
    reports.recovered('store');
  }

  /** All rows of the segments: those that the store has already change nothing. */
  async #readSpilled(): Promise<void> {
    const { spool, newSegment } = this.#options;
    // The segment that is being written would get more rows while it is read.
    if (spool?.isOpen && spool.last && spool.last.spilled > 0) newSegment();
    for (const segment of spool?.spilled ?? []) {
      let rows: LedgerRow[] = [];
      for await (const line of linesOf(segment.path)) {
        if (line.what === 'end') rows.push(...line.end.rows);
        if (rows.length < BATCH) continue;
        await this.#append(rows);
        rows = [];
      }
      await this.#append(rows);
      this.#spilled -= segment.spilled;
      segment.spilled = 0;
    }
  }

  async #append(rows: readonly LedgerRow[]): Promise<void> {
    const { ledger, reports } = this.#options;
    if (rows.length === 0) return;
    try {
      reports.written(await ledger.append(rows));
    } catch (error) {
      const code = error instanceof StateFailure ? error.code : undefined;
      if (code === 'full') return reports.dropped('store_full', rows.length);
      // A row that the ledger refuses must not keep the others out.
      if (code !== 'invalid') throw error;
      if (rows.length === 1) return reports.dropped('invalid', 1);
      for (const row of rows) await this.#append([row]);
    }
  }

  #fail(error: unknown): void {
    const { clock, reports } = this.#options;
    reports.failed('store', toError(error), this.#failedUntil === undefined);
    this.#failedUntil = clock.now() + AGAIN_MS;
  }
}
