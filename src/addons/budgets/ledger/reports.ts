import type { Logger } from 'pino';
import type { BudgetFamilies } from '../metrics.ts';
import type { Clock } from '../../../plugin/index.ts';

/** Why rows are not in the ledger. Labels of a metric: the list is closed. */
type RowDropReason = 'queue_full' | 'store_full' | 'invalid';

/** The parts of the ledger that can fail. Labels of a metric: the list is closed. */
type LedgerError = 'store' | 'spool';

export interface LedgerReports {
  /** Rows that wait for the store, in memory or in the spool. */
  waiting(rows: number): void;
  written(rows: number): void;
  dropped(reason: RowDropReason, rows: number): void;
  /** A write failed. The first of several in a row is logged. */
  failed(what: LedgerError, error: Error, isFirst: boolean): void;
  recovered(what: LedgerError): void;
  spoolBytes(bytes: number): void;
  /** Requests ended without a settle; their rows have their reserve. */
  expired(requests: number): void;
}

const FAILED: Readonly<Record<LedgerError, string>> = {
  store: 'rows of the ledger wait: the state store does not take them',
  spool: 'the spool cannot be written: if this process is killed, what it cost since is not in the ledger',
};
const RECOVERED: Readonly<Record<LedgerError, string>> = {
  store: 'the state store takes rows of the ledger again',
  spool: 'the spool is written again',
};

export const ledgerReports = (
  families: BudgetFamilies,
  clock: Pick<Clock, 'wall'>,
  log: Pick<Logger, 'error' | 'warn' | 'info'>,
): LedgerReports => ({
  waiting: (rows) => families.ledgerRowsWaiting.set({}, rows),
  written(rows) {
    families.ledgerRowsWritten.add({}, rows);
    families.ledgerLastWrite.set({}, clock.wall() / 1000);
  },
  dropped: (reason, rows) => families.ledgerRowsDropped.add({ reason }, rows),
  failed(what, err, isFirst) {
    families.ledgerErrors.add({ what });
    if (isFirst) log.error({ err }, FAILED[what]);
  },
  recovered: (what) => log.info(RECOVERED[what]),
  spoolBytes: (bytes) => families.spoolBytes.set({}, bytes),
  expired(requests) {
    families.ledgerExpired.add({}, requests);
    log.warn({ requests }, 'requests ended without a settle; the ledger has their reserves');
  },
});
