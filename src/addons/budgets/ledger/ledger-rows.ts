import type { Usage } from '../../../formats/events.ts';
import { cut } from '../../../core/record/cut.ts';
import type { Payer, RecordedCost } from '../../../core/record/costs.ts';
import type { RecordedAttempt, RequestRecord } from '../../../core/record/record.ts';
import {
  LEDGER_SUMS,
  type LedgerKind,
  type LedgerRow,
  type LedgerSource,
  type LedgerSum,
} from '../../../core/ports/ledger.ts';

type Sums = Readonly<Record<LedgerSum, number>>;

export const NO_SUMS = Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0])) as Sums;

const MAX_NAME = 256;
export const named = (text: string | undefined): string =>
  text === undefined ? '' : text.length > MAX_NAME ? text.slice(0, MAX_NAME) : text;

type Common = Pick<
  LedgerRow,
  'req' | 'requestId' | 'at' | 'key' | 'user' | 'team' | 'organization' | 'config' | 'priceVersion' | 'labels'
>;
type AnsweredModel = Pick<LedgerRow, 'asked' | 'model' | 'tier' | 'geo'>;

const MAX_LABEL = 128;

/** `LedgerRow.labels`. @param names sorted; empty: nothing is read */
export function labelsOf(metadata: Readonly<Record<string, string>> | undefined, names: readonly string[]): string {
  if (names.length === 0 || !metadata) return '';
  const found = names.filter((name) => Object.hasOwn(metadata, name));
  if (found.length === 0) return '';
  return JSON.stringify(Object.fromEntries(found.map((name) => [name, cut(metadata[name]!, MAX_LABEL)])));
}

/** The values of the rows beyond the record of their request. */
export interface RowSources {
  readonly payer: Payer;
  /** The amount reserved for an attempt, by its number. */
  readonly heldOf: (attempt: number) => number;
  /** Names of metadata, sorted. */
  readonly labels: readonly string[];
}

/**
 * The rows of a request that has ended: one for each try that cost something or may have, one for each reply of a cache. A request that
 * cost nothing has none. The first row is number 0, by which requests are counted.
 */
export function rowsOf(record: RequestRecord, { payer, heldOf, labels }: RowSources): LedgerRow[] {
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
    labels: labelsOf(record.metadata, labels),
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

function endOf(
  attempt: RecordedAttempt,
  { common, held }: Basis,
  { cost, att }: { readonly cost: RecordedCost; readonly att: number },
): LedgerRow {
  const { usage, errorCode } = attempt;
  const sums = usage && cost.source !== 'cache' ? sumsOf(usage) : NO_SUMS;
  const { kind, src, nano } = priced(cost);
  const { tries, durationMs, firstContentMs } = attempt;
  return rowOf(common, placeOf(attempt), {
    att,
    kind,
    src,
    status: errorCode ?? 'ok',
    sums,
    nano,
    held: held(),
    ms: Math.round(tries.at(-1)?.durationMs ?? durationMs),
    firstMs: firstContentMs === undefined ? undefined : Math.round(firstContentMs),
  });
}

interface RowEnd extends Pick<LedgerRow, 'att' | 'kind' | 'src' | 'status' | 'nano' | 'held' | 'ms' | 'firstMs'> {
  readonly sums: Sums;
}

/** Property by property: spreads take three times as long and allocate five times as much (measured), for each request. */
export const rowOf = (common: Common, place: AnsweredModel, end: RowEnd): LedgerRow => ({
  req: common.req,
  requestId: common.requestId,
  att: end.att,
  kind: end.kind,
  at: common.at,
  src: end.src,
  asked: place.asked,
  tier: place.tier,
  geo: place.geo,
  priceVersion: common.priceVersion,
  labels: common.labels,
  key: common.key,
  user: common.user,
  team: common.team,
  organization: common.organization,
  config: common.config,
  model: place.model,
  status: end.status,
  input: end.sums.input,
  cacheRead: end.sums.cacheRead,
  cacheWrite5m: end.sums.cacheWrite5m,
  cacheWrite1h: end.sums.cacheWrite1h,
  output: end.sums.output,
  reasoning: end.sums.reasoning,
  inputAudio: end.sums.inputAudio,
  outputAudio: end.sums.outputAudio,
  inputImage: end.sums.inputImage,
  outputImage: end.sums.outputImage,
  units: end.sums.units,
  searches: end.sums.searches,
  nano: end.nano,
  held: end.held,
  ms: end.ms,
  firstMs: end.firstMs,
});

const LOST_TRY = { ...NO_SUMS, status: 'retried', held: 0, ms: 0, firstMs: undefined };

const placeOf = ({ place, usage, responseModel }: RecordedAttempt): AnsweredModel => ({
  asked: named(place && `@${place.provider}/${place.model}`),
  model: named(responseModel ?? place?.model),
  tier: usage?.tier ?? (usage?.fast ? 'fast' : ''),
  geo: named(usage?.geo ?? place?.geo),
});

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
