import { LEDGER_SUMS, type LedgerRow } from '../../../../core/ports/ledger.ts';
import type { LineBytes } from './line-bytes.ts';

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
] as const satisfies readonly (keyof LedgerRow)[];

/** The columns of a whole row, and of the row of a send, whose sums are all 0. */
export const END_COLUMNS = [
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
export const SEND_COLUMNS = END_COLUMNS.slice(0, END_COLUMNS.indexOf('ms'));

/** The value of a column that earlier releases did not write. */
export const NOT_KNOWN = { requestId: '' } as const;

/** The values of columns that a line leaves out. */
export const NOT_WRITTEN = {
  ...NOT_KNOWN,
  ...Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0])),
  ms: 0,
  firstMs: undefined,
} as const;

interface Encoded {
  readonly row: LedgerRow;
  readonly bytes: Buffer;
}

/** Callers whose texts are kept. */
const MAX_CALLERS = 1000;

/**
 * Writes rows as JSON lists, in the order of END_COLUMNS. The texts of a caller are encoded once for all requests that have the same: that
 * halves the cost of a row (measured).
 */
export class RowTexts {
  readonly #names = new Map<string, Encoded>();

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
  one.status === other.status;
