import {
  DURATION_BUCKETS,
  LEDGER_NAMES,
  LEDGER_SUMS,
  ROLLUP_DIMENSIONS,
  type LedgerDimension,
  type LedgerRow,
} from '../../../../core/ports/ledger.ts';

export const DAY_MS = 86_400_000;
export const BUCKETS = DURATION_BUCKETS.length + 1;

/** Texts of a row that are stored once a day, as numbers. The place of one is its kind in ledger_name: the list may grow at its end only. */
export const TEXTS = [...LEDGER_NAMES, 'asked', 'tier', 'geo', 'priceVersion', 'labels'] as const;
export type LedgerText = (typeof TEXTS)[number];

/** `cacheWrite5m`: `"cache_write5m"` */
export const columnOf = (name: string): string =>
  `"${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

const buckets = (prefix: string): string[] => Array.from({ length: BUCKETS }, (_, index) => `${prefix}${index}`);
export const MS_COLUMNS = buckets('ms');
export const FIRST_COLUMNS = buckets('first');
export const COUNTS = ['requests', 'attempts', 'hits'] as const;

/** Columns of a row, in the order in which COPY sends them. */
export const ROW_COLUMNS = [
  'day',
  'req',
  'att',
  'kind',
  'src',
  'at',
  ...TEXTS,
  ...LEDGER_SUMS,
  'held',
  'ms',
  'firstMs',
  'requestId',
] as const satisfies readonly (keyof LedgerRow | 'day')[];

/** Columns of sums that add up. */
export const SUMMED = [...LEDGER_SUMS, ...COUNTS, ...MS_COLUMNS, ...FIRST_COLUMNS].map(columnOf);
export const DIMENSIONS = ROLLUP_DIMENSIONS.map(columnOf);

/** Bound of a stored sum: a sum that a bigint does not hold would fail each append with it. */
export const MOST_SUM = 2 ** 62;
const MOST_TEXT = String(BigInt(MOST_SUM));
/** An expression of type numeric as a bigint within the bound. */
export const bounded = (sum: string): string => `least(${MOST_TEXT}, greatest(-${MOST_TEXT}, ${sum}))::bigint`;

export const isName = (dimension: LedgerDimension): dimension is Exclude<LedgerDimension, 'src' | 'kind'> =>
  dimension !== 'src' && dimension !== 'kind';
