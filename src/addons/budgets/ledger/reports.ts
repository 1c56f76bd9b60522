/** Why rows are not in the ledger. Labels of a metric: the list is closed. */
export const ROW_DROP_REASONS = ['queue_full', 'store_full', 'invalid'] as const;
export type RowDropReason = (typeof ROW_DROP_REASONS)[number];

/** The parts of the ledger that can fail. Labels of a metric: the list is closed. */
export const LEDGER_ERRORS = ['store', 'spool'] as const;
export type LedgerError = (typeof LEDGER_ERRORS)[number];

/** Counts events of the ledger of a process. */
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
