import type { Nano } from './money.ts';

/**
 * The cost of each try of each request. Rows are appended and never edited: a correction is a row of its own.
 *
 * Every method rejects with `StateFailure`: `unavailable`, `invalid`.
 */
export interface Ledger {
  /**
   * Appends rows and adds them to the rollups, all or none of the rows of one day. A row that is there already (`req`, `att`, `kind`)
   * is ignored, and so may be repeated. Returns the number of new rows. At most `MAX_ROWS` a call.
   */
  append(rows: readonly LedgerRow[]): Promise<number>;
  /** Sums by hour or day. Charts read these and never rows. */
  rollups(query: RollupQuery): Promise<readonly RollupRow[]>;
  /** Rows by day (UTC), and by request within a day, in pieces. A consumer that stops early ends the query. */
  rows(query: LedgerQuery): AsyncIterable<readonly LedgerRow[]>;
  /** Removes the rows of whole days (UTC) before `day` and keeps their sums by day. Returns the number of days. @param day `2026-11-22` */
  dropBefore(day: string): Promise<number>;
  /** Sums up the oldest day (UTC) before `day` (`2026-11-22`) that still has hours. False: there is none. */
  foldOldest(day: string): Promise<boolean>;
  /** Removes the sums of days (UTC) before `day` whose rows were dropped. Returns the number of sums. @param day `2026-11-22` */
  forgetSums(day: string): Promise<number>;
  /** Days (UTC) that have rows, in order. */
  days(): Promise<readonly string[]>;
}

/** Most rows of one `append`. */
export const MAX_ROWS = 10_000;

/** Texts of one kind that a day distinguishes; further ones are `OTHER_NAME`. Callers choose some of them (models). */
export const MAX_NAMES = 50_000;
export const OTHER_NAME = '__other__';

/** Kinds of rows: a try at an upstream, a cache hit, a correction, or a hold that was never settled. */
export const LEDGER_KINDS = ['try', 'hit', 'adjustment', 'expired'] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/** `told`: by the upstream. `estimated`: by the gateway. `none`: no price is known. `lost`: it never settled. */
export const LEDGER_SOURCES = ['told', 'estimated', 'none', 'lost'] as const;
export type LedgerSource = (typeof LEDGER_SOURCES)[number];

/** Integers that add up, each 0 or more unless it says otherwise. */
export const LEDGER_SUMS = [
  /** Tokens of the prompt; the kinds are disjoint: input without the cached, written, sound and picture tokens. */
  'input',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'output',
  /** A part of `output`, for information. */
  'reasoning',
  'inputAudio',
  'outputAudio',
  'inputImage',
  'outputImage',
  /** Pictures made, or milliseconds of sound of a model that counts no tokens. */
  'units',
  'searches',
  /** The cost. Negative in adjustments that give back. */
  'nano',
] as const;
export type LedgerSum = (typeof LEDGER_SUMS)[number];

/** Texts of a row that callers and operators choose. Empty: none. `user`: the owner of the key. `status`: `ok`, or the code of the error. */
export const LEDGER_NAMES = ['key', 'user', 'team', 'organization', 'config', 'model', 'status'] as const;
type LedgerName = (typeof LEDGER_NAMES)[number];

/** Dimensions by which sums are grouped. */
export const LEDGER_DIMENSIONS = [...LEDGER_NAMES, 'src', 'kind'] as const;
export type LedgerDimension = (typeof LEDGER_DIMENSIONS)[number];

/** Sums distinguish more than rows are found by: `provider` is the catalog entry of `asked`. The order is that of `RollupCell.names`. */
export const ROLLUP_DIMENSIONS = [...LEDGER_DIMENSIONS, 'provider', 'labels'] as const;
export type RollupDimension = (typeof ROLLUP_DIMENSIONS)[number];

/** Metadata of requests that the ledger keeps (`state.ledger_labels`). */
export const MAX_LEDGER_LABELS = 3;

export interface LedgerRow extends Readonly<Record<LedgerSum, number>>, Readonly<Record<LedgerName, string>> {
  /** UUID version 7 of the request, lower case. */
  readonly req: string;
  /** The id of the request in log and record, which callers may choose and repeat. Empty: it is `req`. */
  readonly requestId: string;
  /** Number of the try in its request, from 0. The row of try 0 counts the request. At most 65,535. */
  readonly att: number;
  readonly kind: LedgerKind;
  /** Milliseconds since 1970. Its day (UTC) is where the row is kept: the same row again must have the same time. */
  readonly at: number;
  /** The model of the request, with its catalog entry: `@openai/gpt-4o`. `model` is the one that answered. */
  readonly asked: string;
  readonly src: LedgerSource;
  /** Service tier and region that the price depends on; empty: the standard one. */
  readonly tier: string;
  readonly geo: string;
  /** The price list that the cost comes from. */
  readonly priceVersion: string;
  /** The metadata of `state.ledger_labels` as JSON, in the order of their names: `{"env":"prod"}`. Empty: none. */
  readonly labels: string;
  /** The amount that was reserved. */
  readonly held: Nano;
  /** Duration of the try, and the time to its first content; undefined: there was none. Milliseconds. */
  readonly ms: number;
  readonly firstMs: number | undefined;
}

/** All given conditions hold. Times are milliseconds since 1970, `to` excluded. */
export interface LedgerQuery {
  readonly from: number;
  readonly to: number;
  readonly where?: LedgerCondition | undefined;
  /** Rows of a piece, at most 1,000. Default: 500. */
  readonly pieces?: number | undefined;
  /** The last row of an earlier query: only rows after it, in the order of `rows`. */
  readonly after?: RowName | undefined;
}

/** The fields that name a row, and the day that has it. */
export type RowName = Pick<LedgerRow, 'at' | 'req' | 'att' | 'kind'>;

export type LedgerCondition = Readonly<Partial<Record<LedgerDimension, readonly string[]>>>;

export interface RollupQuery {
  /** Whole hours count: `from` is rounded down, `to` up. */
  readonly from: number;
  readonly to: number;
  readonly where?: RollupCondition | undefined;
  /** Dimensions of the result; the others are summed. */
  readonly by: readonly RollupDimension[];
  /** Labels of the result, by their names. */
  readonly labels?: readonly string[] | undefined;
  /** Only rows whose labels have one of these values; an empty value: rows without the label. */
  readonly whereLabels?: Readonly<Record<string, readonly string[]>> | undefined;
  /** `day` is a day of `zone`; `all`: one row for the whole time. Days that were folded or dropped have no hours: they count at their first. */
  readonly step: 'hour' | 'day' | 'all';
  /**
   * IANA time zone of days, whose offset is whole hours. Default: UTC. A UTC day without hours counts as the day of its date, in `from` and
   * `to` too, so that it is in one month.
   */
  readonly zone?: string | undefined;
  /** An answer of more sums rejects with `invalid`. Default: no bound. */
  readonly most?: number | undefined;
}

export type RollupCondition = Readonly<Partial<Record<RollupDimension, readonly string[]>>>;

/** The key that the sums of an answer are sorted by. No character may stand between names, since callers choose some. @param names of `by`, then of `labels` */
export const sumName = ({ start, day }: Pick<RollupRow, 'start' | 'day'>, names: readonly string[]): string =>
  JSON.stringify([start, day ?? '', ...names]);

/** Upper bounds of the buckets of durations, in milliseconds; one more bucket has everything above. */
export const DURATION_BUCKETS = [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000] as const;

export interface RollupRow extends Readonly<Record<LedgerSum, number>> {
  /** Start of the hour or day, or the `from` of the query. */
  readonly start: number;
  /** The dimensions of `by`. */
  readonly names: Readonly<Partial<Record<RollupDimension, string>>>;
  /** Those of `labels` of the query; empty: the rows have none. */
  readonly labels: Readonly<Record<string, string>>;
  /** With a `zone`: the UTC day of the date, whose hours are gone, or the first day with hours, without those that are in such a day. */
  readonly day?: 'utc' | 'cut' | undefined;
  /** Sums that are too large for a safe integer. Each is the largest, or the least. */
  readonly saturated: readonly LedgerSum[];
  readonly requests: number;
  /** Rows of kind `try`. */
  readonly attempts: number;
  /** Rows of kind `hit`. */
  readonly hits: number;
  /** Counts of `ms` and `firstMs` by `DURATION_BUCKETS`, of rows of kind `try`. */
  readonly ms: readonly number[];
  readonly firstMs: readonly number[];
}
