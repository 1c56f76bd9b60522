import type { Usage } from '../../../formats/events.ts';
import type { Payer } from '../record/payer.ts';
import type { RecordedAttempt, RequestRecord } from '../../../core/record/record.ts';
import type { RecordedCost } from '../record/recorded-cost.ts';
import {
  LEDGER_SUMS,
  type LedgerKind,
  type LedgerRow,
  type LedgerSource,
  type LedgerSum,
} from '../../../core/ports/ledger.ts';

type Sums = Readonly<Record<LedgerSum, number>>;

const NO_SUMS = Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0])) as Sums;

/** The bound of the ledger. */
const MAX_NAME = 256;
export const named = (text: string | undefined): string =>
  text === undefined ? '' : text.length > MAX_NAME ? text.slice(0, MAX_NAME) : text;

/** The fields that all rows of a request share. */
type Common = Pick<
  LedgerRow,
  'req' | 'requestId' | 'at' | 'key' | 'user' | 'team' | 'organization' | 'config' | 'priceVersion'
>;

/**
 * The rows of a request that has ended: one for each try that cost something or may have, one for each reply of a cache. A request that
 * cost nothing has none. The first row is number 0, by which requests are counted.
 *
 * @param heldOf what was reserved for an attempt, by its number
 */
export function rowsOf(record: RequestRecord, payer: Payer, heldOf: (attempt: number) => number): LedgerRow[] {
  const common: Common = {
    req: payer.req,
    requestId: named(payer.requestId),
    at: Math.floor(record.receivedAt),
    key: named(record.keyId),
    user: named(payer.user),
    team: named(record.team),
    organization: named(payer.organization),
    config: named(record.configId),
    priceVersion: payer.priceVersion,
  };
  const rows: LedgerRow[] = [];
  for (const attempt of record.attempts) addRows(rows, attempt, { common, held: () => heldOf(attempt.number) });
  return rows;
}

interface Basis {
  readonly common: Common;
  readonly held: () => number;
}

function addRows(rows: LedgerRow[], attempt: RecordedAttempt, { common, held }: Basis): void {
  const { cost, lostCosts, semantic } = attempt;
  const embedding = semantic?.embedding;
  if (embedding?.cost) rows.push({ ...common, ...vectorsOf(embedding), ...priced(embedding.cost), att: rows.length });
  if (!cost && lostCosts.length === 0) return;
  const own = { ...common, ...placeOf(attempt) };
  for (const lost of lostCosts) rows.push({ ...own, ...LOST_TRY, ...priced(lost), att: rows.length });
  if (cost) rows.push(endOf(attempt, { common, held }, { cost, att: rows.length }));
}

/** The row of nearly every request: property by property, because four spreads take three times as long (measured). */
function endOf(
  attempt: RecordedAttempt,
  { common, held }: Basis,
  { cost, att }: { readonly cost: RecordedCost; readonly att: number },
): LedgerRow {
  const { usage, errorCode } = attempt;
  const { asked, model, tier, geo } = placeOf(attempt);
  const { kind, src, nano } = priced(cost);
  const sums = usage && cost.source !== 'cache' ? sumsOf(usage) : NO_SUMS;
  const { ms, firstMs } = timesOf(attempt);
  return {
    req: common.req,
    requestId: common.requestId,
    att,
    kind,
    at: common.at,
    src,
    asked,
    tier,
    geo,
    priceVersion: common.priceVersion,
    key: common.key,
    user: common.user,
    team: common.team,
    organization: common.organization,
    config: common.config,
    model,
    status: errorCode ?? 'ok',
    input: sums.input,
    cacheRead: sums.cacheRead,
    cacheWrite5m: sums.cacheWrite5m,
    cacheWrite1h: sums.cacheWrite1h,
    output: sums.output,
    reasoning: sums.reasoning,
    inputAudio: sums.inputAudio,
    outputAudio: sums.outputAudio,
    inputImage: sums.inputImage,
    outputImage: sums.outputImage,
    units: sums.units,
    searches: sums.searches,
    nano,
    held: held(),
    ms,
    firstMs,
  };
}

/**
 * The row of a request that has left, if nothing more becomes known of it. Property by property: a spread of the sums allocates five times as
 * much (measured).
 */
export function lostRow(
  row: Omit<LedgerRow, LedgerSum | 'kind' | 'status' | 'held' | 'ms' | 'firstMs'> & { readonly held: number },
): LedgerRow {
  return {
    req: row.req,
    requestId: row.requestId,
    att: row.att,
    kind: 'expired',
    at: row.at,
    src: row.src,
    asked: row.asked,
    tier: row.tier,
    geo: row.geo,
    priceVersion: row.priceVersion,
    key: row.key,
    user: row.user,
    team: row.team,
    organization: row.organization,
    config: row.config,
    model: row.model,
    status: 'lost',
    input: 0,
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: 0,
    reasoning: 0,
    inputAudio: 0,
    outputAudio: 0,
    inputImage: 0,
    outputImage: 0,
    units: 0,
    searches: 0,
    nano: row.held,
    held: row.held,
    ms: 0,
    firstMs: undefined,
  };
}

const LOST_TRY = { ...NO_SUMS, status: 'retried', held: 0, ms: 0, firstMs: undefined };

const placeOf = ({ place, usage, responseModel }: RecordedAttempt) => ({
  asked: named(place && `@${place.provider}/${place.model}`),
  model: named(responseModel ?? place?.model),
  tier: usage?.tier ?? (usage?.fast ? 'fast' : ''),
  geo: named(usage?.geo ?? place?.geo),
});

const timesOf = ({ tries, durationMs, firstContentMs }: RecordedAttempt) => ({
  ms: Math.round(tries.at(-1)?.durationMs ?? durationMs),
  firstMs: firstContentMs === undefined ? undefined : Math.round(firstContentMs),
});

/** A call for the vectors of a semantic cache. */
const vectorsOf = ({
  provider,
  modelLabel,
  tokens,
  durationMs,
  result,
}: NonNullable<NonNullable<RecordedAttempt['semantic']>['embedding']>) => ({
  ...NO_SUMS,
  input: tokens ?? 0,
  asked: named(`@${provider}/${modelLabel}`),
  model: named(modelLabel),
  status: result === 'success' ? 'ok' : 'upstream_error',
  tier: '',
  geo: '',
  held: 0,
  ms: Math.round(durationMs),
  firstMs: undefined,
});

function priced({ nano, source }: RecordedCost): { kind: LedgerKind; src: LedgerSource; nano: number } {
  if (source === 'cache') return { kind: 'hit', src: 'told', nano: 0 };
  if (nano === undefined) return { kind: 'try', src: 'none', nano: 0 };
  return { kind: 'try', src: source === 'reported' ? 'told' : 'estimated', nano };
}

/** No provider counts as much; an upstream may write anything. */
const MAX_COUNT = 1e12;
/** A whole number that ledger and counters take. */
export const count = (value: number | undefined): number =>
  value === undefined || !(value > 0) ? 0 : Math.min(Math.round(value), MAX_COUNT);

/** Kinds are disjoint, as in the price of a request (src/addons/budgets/prices/cost.ts): what a provider reports as a part is subtracted from the whole. */
function sumsOf(usage: Usage): Sums {
  const cacheRead = count(usage.cacheRead);
  const cacheWrite1h = count(usage.cacheWrite1h);
  const cacheWrite5m = Math.max(0, count(usage.cacheWrite) - cacheWrite1h);
  let left = Math.max(0, count(usage.input) - cacheRead - cacheWrite5m - cacheWrite1h);
  const inputAudio = Math.min(Math.max(0, count(usage.inputAudio) - count(usage.cacheReadAudio)), left);
  left -= inputAudio;
  const inputImage = Math.min(Math.max(0, count(usage.inputImage) - count(usage.cacheReadImage)), left);
  const outputAudio = Math.min(count(usage.outputAudio), count(usage.output));
  const outputImage = Math.min(count(usage.outputImage), count(usage.output) - outputAudio);
  return {
    input: left - inputImage,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h,
    output: count(usage.output) - outputAudio - outputImage,
    reasoning: count(usage.reasoning),
    inputAudio,
    outputAudio,
    inputImage,
    outputImage,
    units: usage.images === undefined ? count((usage.seconds ?? 0) * 1000) : count(usage.images),
    searches: count(usage.searches) + count(usage.fileSearches),
    nano: 0,
  };
}
