import type { Boot, CounterRef, LeaseId } from '../../../../core/ports/counters.ts';
import type { LedgerRow } from '../../../../core/ports/ledger.ts';
import { rowOfCells, type Cells } from '../rules/row-cells.ts';
import type { LineBytes } from './line-bytes.ts';
import { END_COLUMNS, NOT_KNOWN, NOT_WRITTEN, RowTexts, SEND_COLUMNS } from './row-text.ts';

/** An account of a budget, as the spool names it: a number of the process. */
export type AccountNumber = number;

/** The amount that an account has counted on its lease. */
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
  /** The row of the ledger if nothing more becomes known of it: of kind `expired`, without tokens. */
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

type Written =
  | readonly ['process', Boot, number, readonly string[], (readonly string[])?]
  | readonly ['account', SpooledAccount]
  | readonly ['complete']
  | readonly ['send', number, readonly AccountAmount[], Cells]
  | readonly ['end', readonly number[], readonly AccountAmount[], readonly Cells[]];

const textOf = (line: Written): string => `${JSON.stringify(line)}\n`;

export const processLine = (boot: Boot, pid: number): string =>
  textOf(['process', boot, pid, END_COLUMNS, SEND_COLUMNS]);
export const accountLine = (account: SpooledAccount): string => textOf(['account', account]);
export const COMPLETE_LINE = textOf(['complete']);

/** Writes the lines of requests. Each is put together by hand: it is written for every request. */
export class SpoolLineWriter {
  // Those of sends and of ends differ: each has its own.
  readonly #sends = new RowTexts();
  readonly #ends = new RowTexts();

  send(to: LineBytes, { hold, accounts, row }: SpooledSend): void {
    to.ascii('["send",');
    to.number(hold);
    to.ascii(',');
    writeAmounts(to, accounts);
    to.ascii(',');
    this.#sends.send(to, row);
    to.ascii(']\n');
  }

  end(to: LineBytes, { holds, accounts, rows }: SpooledEnd): void {
    to.ascii('["end",[');
    for (let index = 0; index < holds.length; index += 1) {
      if (index > 0) to.ascii(',');
      to.number(holds[index]!);
    }
    to.ascii('],');
    writeAmounts(to, accounts);
    to.ascii(',[');
    for (let index = 0; index < rows.length; index += 1) {
      if (index > 0) to.ascii(',');
      this.#ends.end(to, rows[index]!);
    }
    to.ascii(']]\n');
  }
}

function writeAmounts(to: LineBytes, accounts: readonly AccountAmount[]): void {
  to.ascii('[');
  for (let index = 0; index < accounts.length; index += 1) {
    const [number, amount] = accounts[index]!;
    to.ascii(index > 0 ? ',[' : '[');
    to.number(number);
    to.ascii(',');
    to.number(amount);
    to.ascii(']');
  }
  to.ascii(']');
}

/** Reads the lines of one segment, in order. */
export class LineReader {
  /** The columns that the segment's first line names. */
  #columns: readonly string[] = END_COLUMNS;
  #sendColumns: readonly string[] = SEND_COLUMNS;

  /** Undefined: the line was not written whole. A process that is killed, or a full disk, leaves such lines. */
  read(text: string): SpoolLine | undefined {
    let line: Written;
    try {
      line = JSON.parse(text) as Written;
    } catch {
      return undefined;
    }
    // A disk that failed may leave any text: one line of it must not keep the whole spool from being replayed.
    if (!Array.isArray(line)) return undefined;
    const [what] = line;
    if (what === 'process') {
      this.#columns = line[3];
      // Earlier releases wrote sends with all columns.
      this.#sendColumns = line[4] ?? line[3];
      return { what, boot: line[1], pid: line[2] };
    }
    if (what === 'account') return { what, account: line[1] };
    if (what === 'complete') return { what };
    if (what === 'send')
      return {
        what,
        send: { hold: line[1], accounts: line[2], row: { ...NOT_WRITTEN, ...rowOfCells(line[3], this.#sendColumns) } },
      };
    const [, holds, accounts, rows] = line;
    return {
      what,
      end: { holds, accounts, rows: rows.map((cells) => ({ ...NOT_KNOWN, ...rowOfCells(cells, this.#columns) })) },
    };
  }
}
