import type { Boot, CounterRef, LeaseId } from '../counters.ts';
import { LEDGER_NAMES, LEDGER_SUMS, type LedgerRow } from '../ledger.ts';

/** An account of a budget, as the spool names it: a number of the process. */
export type AccountNumber = number;

/** What an account has counted on its lease. */
export interface SpooledAccount extends CounterRef {
  readonly number: AccountNumber;
  /** 0: the process had no lease yet. */
  readonly lease: LeaseId;
  /** All that was settled on it. */
  readonly used: number;
}

/** A change of what an account has used, or an amount that is reserved on it, in its unit. */
export type AccountAmount = readonly [AccountNumber, number];

/** A request that may have left the process. */
export interface SpooledSend {
  /** A number of the process. */
  readonly hold: number;
  readonly accounts: readonly AccountAmount[];
  /** The row of the ledger if nothing more becomes known of it. */
  readonly row: LedgerRow;
}

/** Sends that have ended, and what became of them. Accounts and rows are in one line, so that none is counted without the other. */
export interface SpooledEnd {
  readonly holds: readonly number[];
  readonly accounts: readonly AccountAmount[];
  readonly rows: readonly LedgerRow[];
}

/**
 * A line of a spool. A segment begins with `process`, all accounts and open sends of that time, and `complete`: with it, the segments
 * before it are needed for their rows alone.
 */
export type SpoolLine =
  | { readonly what: 'process'; readonly boot: Boot; readonly pid: number }
  | { readonly what: 'account'; readonly account: SpooledAccount }
  | { readonly what: 'complete' }
  | { readonly what: 'send'; readonly send: SpooledSend }
  | { readonly what: 'end'; readonly end: SpooledEnd };

const COLUMNS = [
  'req',
  'att',
  'kind',
  'at',
  'src',
  'asked',
  'tier',
  'geo',
  'priceVersion',
  ...LEDGER_NAMES,
  ...LEDGER_SUMS,
  'held',
  'ms',
  'firstMs',
] as const satisfies readonly (keyof LedgerRow)[];

type Cells = readonly (string | number | null)[];

const cellsOf = (row: LedgerRow): Cells => COLUMNS.map((column) => row[column] ?? null);

/** @param columns of the release that wrote the cells */
const rowOf = (cells: Cells, columns: readonly string[]): LedgerRow =>
  Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? undefined])) as unknown as LedgerRow;

type Written =
  | readonly ['process', Boot, number, readonly string[]]
  | readonly ['account', SpooledAccount]
  | readonly ['complete']
  | readonly ['send', number, readonly AccountAmount[], Cells]
  | readonly ['end', readonly number[], readonly AccountAmount[], readonly Cells[]];

const textOf = (line: Written): string => `${JSON.stringify(line)}\n`;

export const processLine = (boot: Boot, pid: number): string => textOf(['process', boot, pid, COLUMNS]);
export const accountLine = (account: SpooledAccount): string => textOf(['account', account]);
export const COMPLETE_LINE = textOf(['complete']);
export const sendLine = ({ hold, accounts, row }: SpooledSend): string =>
  textOf(['send', hold, accounts, cellsOf(row)]);
export const endLine = ({ holds, accounts, rows }: SpooledEnd): string =>
  textOf(['end', holds, accounts, rows.map(cellsOf)]);

/** Reads the lines of one segment, in order. */
export class LineReader {
  /** The columns that the segment's first line names. */
  #columns: readonly string[] = COLUMNS;

  /** Undefined: the line was not written whole. A process that is killed, or a full disk, leaves such lines. */
  read(text: string): SpoolLine | undefined {
    let line: Written;
    try {
      line = JSON.parse(text) as Written;
    } catch {
      return undefined;
    }
    const [what] = line;
    if (what === 'process') {
      this.#columns = line[3];
      return { what, boot: line[1], pid: line[2] };
    }
    if (what === 'account') return { what, account: line[1] };
    if (what === 'complete') return { what };
    if (what === 'send')
      return { what, send: { hold: line[1], accounts: line[2], row: rowOf(line[3], this.#columns) } };
    const [, holds, accounts, rows] = line;
    return { what, end: { holds, accounts, rows: rows.map((cells) => rowOf(cells, this.#columns)) } };
  }
}
