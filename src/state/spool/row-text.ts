import { LEDGER_SUMS, type LedgerRow } from '../ledger.ts';

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

/** What a row has in the columns that a line leaves out. */
export const NOT_WRITTEN = {
  ...Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0])),
  ms: 0,
  firstMs: undefined,
} as const;

interface Encoded {
  readonly row: LedgerRow;
  readonly text: string;
}

/** Callers whose texts are kept. */
const MAX_CALLERS = 1000;

/**
 * Writes rows as JSON lists, in the order of END_COLUMNS. The texts of a caller are encoded once for all requests that have the same: that
 * halves the cost of a row (measured).
 */
export class RowTexts {
  readonly #names = new Map<string, Encoded>();

  ofSend(row: LedgerRow): string {
    const { req, att, at, nano, held } = row;
    return `["${req}",${this.#namesOf(row)},${att},${at},${nano},${held}]`;
  }

  ofEnd(row: LedgerRow): string {
    const { req, att, at, nano, held, ms, firstMs } = row;
    // A number that JSON does not have would make the line, and all that it ends, unreadable.
    if (!isWritable(row)) return JSON.stringify(END_COLUMNS.map((column) => row[column] ?? null));
    return (
      `["${req}",${this.#namesOf(row)},${att},${at},${nano},${held},${ms},${firstMs ?? 'null'},` +
      `${row.input},${row.cacheRead},${row.cacheWrite5m},${row.cacheWrite1h},${row.output},${row.reasoning},${row.inputAudio},` +
      `${row.outputAudio},${row.inputImage},${row.outputImage},${row.units},${row.searches}]`
    );
  }

  #namesOf(row: LedgerRow): string {
    const known = this.#names.get(row.key);
    if (known && isSame(known.row, row)) return known.text;
    const text = JSON.stringify(NAMES.map((name) => row[name])).slice(1, -1);
    if (this.#names.size >= MAX_CALLERS) this.#names.clear();
    this.#names.set(row.key, { row, text });
    return text;
  }
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

const isWritable = (row: LedgerRow): boolean =>
  Number.isFinite(row.att + row.at + row.nano + row.held + row.ms + (row.firstMs ?? 0)) &&
  Number.isFinite(row.input + row.cacheRead + row.cacheWrite5m + row.cacheWrite1h + row.output + row.reasoning) &&
  Number.isFinite(row.inputAudio + row.outputAudio + row.inputImage + row.outputImage + row.units + row.searches);
