import { STATS_DIMENSIONS, type StatsDimension } from '../../../core/process/console-port.ts';
import { totalCost, type UnknownCost } from '../../../core/record/costs.ts';
import type { RequestRecord } from '../../../core/record/record.ts';

/** Figures that are added up. `unpriced`: requests whose model has no price. */
const NO_SUMS = { requests: 0, cached: 0, tokensIn: 0, tokensOut: 0, nano: 0, unpriced: 0 };
type Sums = typeof NO_SUMS;
const SUMS = Object.keys(NO_SUMS) as readonly (keyof Sums)[];

/** The counts of the requests that have the same values of all dimensions, in a step of time. Plain: it goes to other processes. */
export interface Cell extends Sums {
  /** In the order of `STATS_DIMENSIONS`. */
  readonly dims: readonly string[];
  /** Counts of durations by bucket; most buckets are empty. */
  readonly ms: Record<number, number>;
  readonly first: Record<number, number>;
}

/** Each bucket is an eighth wider than the one before: a percentile is exact to 12 %. */
const GROWTH = Math.log(1.125);
export const bucketOf = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(Math.log(ms) / GROWTH));
/** The upper end of a bucket, in milliseconds. */
const upTo = (bucket: number): number => Math.exp(bucket * GROWTH);

export const emptyCell = (dims: readonly string[]): Cell => ({ dims, ...NO_SUMS, ms: {}, first: {} });

function isRescued({ retries, attempts }: RequestRecord): boolean {
  if (retries > 0) return true;
  for (const { failure } of attempts) if (failure !== undefined) return true;
  return false;
}

/** The dimensions of a request, as lists of requests have them. */
export function dimensionsOf(record: RequestRecord): readonly string[] {
  const { state, errorCode = '', keyId = '', team = '', configId = '', attempts } = record;
  const { place, answered } = attempts.at(-1) ?? {};
  // Callers write names of models: those that no upstream has answered for are bounded.
  const model = answered ? place?.model : place?.modelLabel;
  const shown = state === 'complete' && isRescued(record) ? 'rescued' : state;
  return [shown, errorCode, keyId, team, configId, place?.provider ?? '', model ?? ''];
}

/** Where nothing was counted, a price is of no use; the simulator costs nothing. */
const lacksPrice = (unknown: UnknownCost, attempts: RequestRecord['attempts']): boolean =>
  unknown !== 'usage' && attempts.at(-1)?.place?.semconvName !== 'simulator';

export function count(cell: Cell, record: RequestRecord): void {
  const { attempts, cache, durationMs, firstContentMs } = record;
  cell.requests += 1;
  if (cache === 'hit') cell.cached += 1;
  const last = attempts.at(-1);
  const { usage } = (last?.answered ? last : attempts.findLast(({ answered }) => answered)) ?? {};
  cell.tokensIn += usage?.input ?? 0;
  cell.tokensOut += usage?.output ?? 0;
  const { nano = 0, unknown } = totalCost(attempts) ?? {};
  cell.nano += nano;
  if (unknown !== undefined && lacksPrice(unknown, attempts)) cell.unpriced += 1;
  const bucket = bucketOf(durationMs);
  cell.ms[bucket] = (cell.ms[bucket] ?? 0) + 1;
  if (firstContentMs === undefined) return;
  const first = bucketOf(firstContentMs);
  cell.first[first] = (cell.first[first] ?? 0) + 1;
}

export function addCell(sum: Cell, more: Cell): void {
  // A file of an older version lacks the newest one.
  for (const name of SUMS) sum[name] += more[name] ?? 0;
  for (const [from, to] of [
    [more.ms, sum.ms],
    [more.first, sum.first],
  ] as const)
    for (const bucket in from) to[bucket] = (to[bucket] ?? 0) + from[bucket]!;
}

/** In milliseconds; null: there is nothing. */
export function percentile(buckets: Readonly<Record<number, number>>, part: number): number | null {
  // Names that are integers are in ascending order.
  const all = Object.entries(buckets);
  let left = all.reduce((sum, [, own]) => sum + own, 0) * part;
  for (const [bucket, own] of all) {
    left -= own;
    if (left <= 0) return Math.round(upTo(Number(bucket)) * 10) / 10;
  }
  return null;
}

export const valueOf = ({ dims }: Cell, dimension: StatsDimension): string =>
  dims[STATS_DIMENSIONS.indexOf(dimension)] ?? '';
