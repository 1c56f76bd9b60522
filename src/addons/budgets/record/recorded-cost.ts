import type { Signals, Usage, UpstreamFailure } from '../../../formats/events.ts';
import {
  isFromCache,
  type Attempt,
  type EmbeddingCall,
  type Exchange,
  type ResolvedTarget,
  type TryRecord,
} from '../../../core/kernel/index.ts';
import type { ErrorCode, ModelTask, ReplyEnd } from '../../../plugin/index.ts';
import type { Nano } from '../../../core/ports/money.ts';
import { believedUsage, estimatedUsage, estimatedUsageOf } from '../../../core/record/booked-usage.ts';
import type { PriceList } from '../prices/price-list.ts';
import type { PricedPlace, UnknownPrice } from '../prices/rates.ts';
import { endOfAttempt } from '../../../core/record/attempt-end.ts';
import {
  geoOf,
  NO_COSTS,
  sumOf,
  type AttemptCosts,
  type CostBasis,
  type RecordedCost,
  type UnknownCost,
} from '../../../core/record/costs.ts';

/** Providers charge nothing for these tasks. */
export const FREE_TASKS: ReadonlySet<ModelTask | undefined> = new Set(['count_tokens', 'moderations']);

type Priced = (usage: Usage) => Nano | UnknownPrice;

export function recordCosts(
  exchange: Exchange,
  attempt: Attempt,
  prices: PriceList,
  { errorCode, receivedAt, believed }: CostBasis,
): AttemptCosts {
  const { resolved, tries } = attempt;
  const task = exchange.operation?.task;
  if (!resolved || resolved.estimatesTokens || FREE_TASKS.has(task)) return NO_COSTS;
  const priced: Priced = (usage) =>
    priceOf(prices, usage, placeOf(resolved, usage, attempt.signals?.model, receivedAt));
  if (tries.length === 0)
    return errorCode === undefined ? { cost: costOfCached(attempt, priced, believed), lost: NO_COSTS.lost } : NO_COSTS;
  const sent = { attempt, task, bytes: exchange.request.bodyBytes, errorCode, believed, priced };
  if (tries.length === 1) return { cost: costOfLast(tries[0]!, sent), lost: NO_COSTS.lost };
  const calls = callsOf(tries);
  const lost = tries
    .filter((one) => isLost(one, tries, errorCode))
    .map((one) => estimated({ one, signals: one.signals, calls }, sent));
  if (calls > 1 && errorCode !== undefined) return { cost: undefined, lost };
  return { cost: costOfLast(tries.at(-1)!, sent), lost };
}

/** The calls of a batch; 1 without a batch. */
const callsOf = (tries: readonly TryRecord[]): number => tries.reduce((most, { call }) => Math.max(most, call + 1), 1);

/** A try that another one followed, and each try of a batch that failed as a whole. */
function isLost(one: TryRecord, tries: readonly TryRecord[], errorCode: ErrorCode | undefined): boolean {
  const last = tries.findLast(({ call }) => call === one.call);
  return (one !== last || (errorCode !== undefined && callsOf(tries) > 1)) && mayCost(one);
}

/** Providers charge for no request that they refused or did not get. A connection that broke may have brought it to them. */
const mayCost = ({ status, sentAt }: TryRecord): boolean =>
  status === undefined ? sentAt !== undefined : status < 400;

function costOfCached(attempt: Attempt, priced: Priced, believed: Usage | undefined): RecordedCost | undefined {
  if (!isFromCache(attempt)) return undefined;
  const whole = believed && priced(believed);
  return { nano: 0, unknown: undefined, source: 'cache', saved: typeof whole === 'number' ? whole : undefined };
}

type Ended = Pick<CostBasis, 'errorCode' | 'believed'>;

interface SentRequest extends Ended {
  readonly attempt: Attempt;
  readonly task: ModelTask | undefined;
  readonly bytes: number;
  readonly priced: Priced;
}

function costOfLast(last: TryRecord, sent: SentRequest): RecordedCost | undefined {
  if (!mayCost(last)) return undefined;
  const usage = reportedUsage(sent.attempt, sent);
  if (usage) return costOf(usage, 'reported', sent.priced);
  return estimated({ one: last, signals: sent.attempt.signals, calls: 1 }, sent);
}

function estimated(
  { one, signals, calls }: { readonly one: TryRecord; readonly signals: Signals | undefined; readonly calls: number },
  { attempt, task, bytes, priced }: SentRequest,
): RecordedCost {
  const counted = believedUsage(attempt, signals, bytes);
  if (counted && signals?.failure?.isCounted) return costOf(counted, 'reported', priced);
  const reserve = reservedFor(attempt, calls);
  if (reserve !== undefined && (isUndelivered(one, signals) || (signals?.usage && !counted))) return atReserve(reserve);
  if (BY_BYTES.has(task))
    return costOf(estimatedUsageOf(one, signals, { attempt, task, bytes: bytes / calls }), 'estimated', priced);
  // Without a budget, an unknown cost says more than the most that a complete reply can cost.
  if (reserve !== undefined && attempt.budget?.usd !== undefined) return atReserve(reserve);
  return { nano: undefined, unknown: 'usage', source: 'estimated', saved: undefined };
}

/** Undefined where nothing was reserved, or the price is not known. */
const reservedFor = ({ reserve }: Attempt, calls: number): Nano | undefined =>
  reserve?.isPriced ? Math.ceil(reserve.amounts.usd / calls) : undefined;

const atReserve = (nano: Nano): RecordedCost => ({ nano, unknown: undefined, source: 'estimated', saved: undefined });

function costOf(usage: Usage, source: RecordedCost['source'], priced: Priced): RecordedCost {
  const cost = priced(usage);
  return typeof cost === 'number'
    ? { nano: cost, unknown: undefined, source, saved: undefined }
    : { nano: undefined, unknown: cost, source, saved: undefined };
}

/** The cost of a call for the vectors of a semantic cache; undefined for one that was not sent, or refused. */
export function costOfVectors(
  call: EmbeddingCall | undefined,
  prices: PriceList,
  receivedAt: number,
): RecordedCost | undefined {
  if (!call?.sent) return undefined;
  const { slug, sent } = call;
  const { bytes, answered } = sent;
  const priced: Priced = (usage) => priceOf(prices, usage, placeOf({ slug, ...sent }, usage, answered, receivedAt));
  if (call.tokens === undefined)
    return costOf(estimatedUsage({ bytes, counted: undefined, delivered: 0 }), 'estimated', priced);
  const usage = { input: call.tokens, output: 0, total: call.tokens };
  return costOf(usage, call.result === 'success' ? 'reported' : 'estimated', priced);
}

/** The whole cost of an attempt, which replaces its reserve. */
export interface SettledCost {
  /** `unknown` is not 0: `reason` says why. */
  readonly nano: Nano | 'unknown';
  readonly reason: UnknownCost | undefined;
  /** none: nothing was sent, the upstream refused, or the reply is that of a cache. estimated: a part of it is. */
  readonly source: 'reported' | 'estimated' | 'none';
  /** Of the last try: as reported, else estimated; undefined where neither is possible, so that the reserve counts. */
  readonly usage: Usage | undefined;
}

/** The cost of an attempt's tries and of its call for vectors, which settles its reservation. The record has the same amount. */
export function settledCost(
  exchange: Exchange,
  attempt: Attempt,
  prices: PriceList,
  { end, receivedAt }: { readonly end: ReplyEnd; readonly receivedAt: number },
): SettledCost {
  const { errorCode } = endOfAttempt(exchange, attempt, end);
  const believed = believedUsage(attempt, attempt.signals, exchange.request.bodyBytes);
  const { cost, lost } = recordCosts(exchange, attempt, prices, { errorCode, receivedAt, believed });
  const vectors = costOfVectors(attempt.semantic?.embedding, prices, receivedAt);
  const all = [cost, ...lost, vectors].filter((one) => one !== undefined && one.source !== 'cache');
  if (all.length === 0) return { nano: 0, reason: undefined, source: 'none', usage: undefined };
  const source = all.every((one) => one?.source === 'reported') ? 'reported' : 'estimated';
  const reason = all.find((one) => one?.unknown)?.unknown;
  const nano = reason === undefined ? sumOf(all, 'nano')! : 'unknown';
  return { nano, reason, source, usage: settledUsage(exchange, attempt, { errorCode, believed }) };
}

function settledUsage(exchange: Exchange, attempt: Attempt, basis: Ended): Usage | undefined {
  const { signals, tries } = attempt;
  const task = exchange.operation?.task;
  const bytes = exchange.request.bodyBytes;
  const { believed } = basis;
  // In place of counts that cannot be true, the reserve counts.
  const isDoubted = signals?.usage !== undefined && !believed;
  if (isDoubted || !BY_BYTES.has(task) || reportedUsage(attempt, basis)) return believed;
  const last = tries.at(-1);
  return !last || isUndelivered(last, signals) ? undefined : estimatedUsageOf(last, signals, { attempt, task, bytes });
}

interface RequestedPlace extends PricedPlace {
  readonly asked: string;
}

/**
 * Where a request was processed, and by which model.
 * @param answered the model that the provider reports
 */
export function placeOf(
  {
    slug,
    provider,
    model,
    region,
    customHost,
  }: Pick<ResolvedTarget, 'slug' | 'provider' | 'model' | 'region' | 'customHost'>,
  usage: Usage | undefined,
  answered: string | undefined,
  receivedAt: number,
): RequestedPlace {
  const geo = usage?.geo ?? geoOf(provider, region);
  const day = dayOf(receivedAt);
  return { entry: slug, provider, model: answered ?? model, asked: model, customHost, region, geo, day };
}

/** Of all models that the provider called. It is unknown where the price of one is. */
export function priceOf(prices: PriceList, usage: Usage, place: RequestedPlace): Nano | UnknownPrice {
  let cost = prices.cost(usage, place);
  // A model that answered may have no price where that of the request has one.
  if (cost === 'model' && place.model !== place.asked) cost = prices.cost(usage, { ...place, model: place.asked });
  for (const { model, usage: used } of usage.otherModels ?? []) {
    if (typeof cost === 'string') break;
    const other = model === undefined ? 'model' : prices.cost(used, { ...place, model, geo: used.geo ?? place.geo });
    cost = typeof other === 'string' ? other : cost + other;
  }
  return cost;
}

const DAY_MS = 86_400_000;
let latestDay = { number: -1, text: '' };

/** UTC. Nearly all requests have the day of the one before. */
export function dayOf(wallMs: number): string {
  const number = Math.floor(wallMs / DAY_MS);
  if (number !== latestDay.number) latestDay = { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) };
  return latestDay.text;
}

/** Tasks whose usage the bytes of request and reply estimate. */
const BY_BYTES: ReadonlySet<ModelTask | undefined> = new Set(['generate', 'completions', 'embeddings']);

/** Failures that readers of the gateway find in a reply. All others are the upstream's own. */
const FOUND_BY_READERS: ReadonlySet<string | undefined> = new Set([undefined, 'unreadable_reply', 'reply_too_large']);

const isReported = ({ kind, code }: UpstreamFailure): boolean => code !== undefined || !FOUND_BY_READERS.has(kind);

/**
 * A request that brought neither a count nor content, because the client left, a timeout passed or the connection
 * broke: the upstream may go on and charge. A redirect, a web page and a reported failure are not among these.
 */
function isUndelivered({ firstByteAt }: TryRecord, signals: Signals | undefined): boolean {
  if (!signals) return firstByteAt === undefined;
  const { usage, content, text, ended, failure } = signals;
  return !usage && !content && text === 0 && !ended && !(failure && isReported(failure));
}

/** The upstream's usage of a complete reply, or of one that it reports as failed. */
function reportedUsage({ signals }: Attempt, { errorCode, believed }: Ended): Usage | undefined {
  const isWhole = (signals?.ended && errorCode === undefined) || signals?.failure?.isCounted;
  return isWhole ? believed : undefined;
}
