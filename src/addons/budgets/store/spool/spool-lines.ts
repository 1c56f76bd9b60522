import type { Boot, CounterRef, LeaseId } from '../../../../core/ports/counters.ts';
import { LEDGER_SUMS, type LedgerRow } from '../../../../core/ports/ledger.ts';
import { rowOfCells, type Cells } from '../rules/row-cells.ts';
import type { LineBytes } from './line-bytes.ts';
import { parseJson } from '../../../../formats/json/object.ts';

/** Texts of a row that the requests of one caller share. */
const NAMES = [
  'kind',
  'src',
  'asked',
  'tier',
  'geo',
  'priceVersion',
  'key',
  'user',
  'team',
  'organization',
  'config',
  'model',
  'status',
  'labels',
] as const satisfies readonly (keyof LedgerRow)[];

/** The columns of a whole row, and of the row of a send, whose sums are all 0. */
const END_COLUMNS = [
  'req',
  'requestId',
  ...NAMES,
  'att',
  'at',
  'nano',
  'held',
  'ms',
  'firstMs',
  ...LEDGER_SUMS.filter((sum) => sum !== 'nano'),
] as const satisfies readonly (keyof LedgerRow)[];
const SEND_COLUMNS = END_COLUMNS.slice(0, END_COLUMNS.indexOf('ms'));

/** The values of columns that earlier releases did not write. */
const NOT_KNOWN = { requestId: '', labels: '' } as const;

const NOT_WRITTEN = {
  ...NOT_KNOWN,
  ...Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0])),
  ms: 0,
  firstMs: undefined,
} as const;

/** An account of a budget, as the spool names it: a number of the process. */
export type AccountNumber = number;

export interface SpooledAccount extends CounterRef {
  readonly number: AccountNumber;
  /** 0: the process had no lease yet. */
  readonly lease: LeaseId;
  readonly used: number;
}

/** A change of what an account has used, or an amount that is reserved on it, in its unit. */
export type AccountAmount = readonly [AccountNumber, number];

export interface SpooledSend {
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

/** A segment begins with `process`, all accounts and open sends, and `complete`: of earlier segments only rows count then. */
export type SpoolLine =
  | { readonly what: 'process'; readonly boot: Boot; readonly pid: number }
  | { readonly what: 'account'; readonly account: SpooledAccount }
  | { readonly what: 'complete' }
  | { readonly what: 'send'; readonly send: SpooledSend }
  | { readonly what: 'end'; readonly end: SpooledEnd };

type LineValue =
  | readonly ['process', Boot, number, readonly string[], (readonly string[])?]
  | readonly ['account', SpooledAccount]
  | readonly ['complete']
  | readonly ['send', number, readonly AccountAmount[], Cells]
  | readonly ['end', readonly number[], readonly AccountAmount[], readonly Cells[]];

const textOf = (line: LineValue): string => `${JSON.stringify(line)}\n`;

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

export class LineReader {
  #columns: readonly string[] = END_COLUMNS;
  #sendColumns: readonly string[] = SEND_COLUMNS;

  /** Undefined: the line was not written whole. A process that is killed, or a full disk, leaves such lines. */
  read(text: string): SpoolLine | undefined {
    const line = parseJson(text) as LineValue | undefined;
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

const MAX_CALLERS = 1000;

/** Writes rows as JSON lists, by END_COLUMNS. Texts of a caller are encoded once, which halves the cost of a row (measured). */
class RowTexts {
  readonly #names = new Map<string, { readonly row: LedgerRow; readonly bytes: Buffer }>();

  send(to: LineBytes, row: LedgerRow): void {
    this.#begin(to, row);
    to.ascii(']');
  }

  end(to: LineBytes, row: LedgerRow): void {
    this.#begin(to, row);
    next(to, row.ms);
    if (row.firstMs === undefined) to.ascii(',null');
    else next(to, row.firstMs);
    next(to, row.input);
    next(to, row.cacheRead);
    next(to, row.cacheWrite5m);
    next(to, row.cacheWrite1h);
    next(to, row.output);
    next(to, row.reasoning);
    next(to, row.inputAudio);
    next(to, row.outputAudio);
    next(to, row.inputImage);
    next(to, row.outputImage);
    next(to, row.units);
    next(to, row.searches);
    to.ascii(']');
  }

  #begin(to: LineBytes, row: LedgerRow): void {
    to.ascii('["');
    to.ascii(row.req);
    to.ascii('","');
    // Letters, digits, `_` and `-`: the gateway takes no other id of a caller.
    to.ascii(row.requestId);
    to.ascii('",');
    to.copy(this.#namesOf(row));
    next(to, row.att);
    next(to, row.at);
    next(to, row.nano);
    next(to, row.held);
  }

  #namesOf(row: LedgerRow): Buffer {
    const known = this.#names.get(row.key);
    if (known && isSame(known.row, row)) return known.bytes;
    const bytes = Buffer.from(JSON.stringify(NAMES.map((name) => row[name])).slice(1, -1));
    if (this.#names.size >= MAX_CALLERS) this.#names.clear();
    this.#names.set(row.key, { row, bytes });
    return bytes;
  }
}

function next(to: LineBytes, value: number): void {
  to.ascii(',');
  to.number(value);
}

/** Property by property: a loop over the names costs as much as what it saves. */
const isSame = (one: LedgerRow, other: LedgerRow): boolean =>
  one.kind === other.kind &&
  one.src === other.src &&
  one.asked === other.asked &&
  one.tier === other.tier &&
  one.geo === other.geo &&
  one.priceVersion === other.priceVersion &&
  one.user === other.user &&
  one.team === other.team &&
  one.organization === other.organization &&
  one.config === other.config &&
  one.model === other.model &&
  one.labels === other.labels &&
  one.status === other.status;
