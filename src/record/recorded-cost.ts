import type { Usage } from '../formats/events.ts';
import type { Attempt, ErrorCode, Exchange, ModelTask, ResolvedTarget } from '../plugin/index.ts';
import type { Nano } from '../prices/money.ts';
import type { PriceList } from '../prices/price-list.ts';
import type { UnknownPrice } from '../prices/priced-place.ts';

/**
 * reported: by what the upstream counted. estimated: by what the upstream counted before its reply was cut, or, where it
 * counted nothing, by the bytes of the request and the pieces of the reply. cache: nothing was sent.
 */
export const COST_SOURCES = ['reported', 'estimated', 'cache'] as const;

/** `usage`: the upstream does not say what was used, and bytes do not tell. */
export const UNKNOWN_COSTS = ['model', 'date', 'tier', 'kind', 'usage'] as const satisfies readonly (
  | UnknownPrice
  | 'usage'
)[];

/** The cost of an attempt. Of the two first values, one is undefined. */
export interface RecordedCost {
  readonly nano: Nano | undefined;
  /** Why the cost is unknown; it is not 0. */
  readonly unknown: (typeof UNKNOWN_COSTS)[number] | undefined;
  readonly source: (typeof COST_SOURCES)[number];
  /** What the reply of a cache would have cost. */
  readonly saved: Nano | undefined;
}

/** The end of an attempt. */
interface EndedAttempt {
  readonly errorCode: ErrorCode | undefined;
  /** No request was sent. */
  readonly unsent: boolean;
  /** Wall clock. */
  readonly receivedAt: number;
}

/** Providers charge nothing for these tasks. */
const FREE: ReadonlySet<ModelTask | undefined> = new Set(['count_tokens', 'moderations']);
/** Tasks whose tokens can be estimated by bytes. */
const BY_BYTES: ReadonlySet<ModelTask | undefined> = new Set(['generate', 'completions', 'embeddings']);
const FROM_CACHE: ReadonlySet<Attempt['cache']> = new Set(['hit', 'semantic_hit', 'shared']);

/** Of English text, for the models of all vendors. */
const BYTES_PER_TOKEN = 4;

/** Undefined where nothing was sent, or the upstream refused: providers charge for no such request. */
export function recordCost(
  exchange: Exchange,
  attempt: Attempt,
  prices: PriceList,
  { errorCode, unsent, receivedAt }: EndedAttempt,
): RecordedCost | undefined {
  const { resolved, tries } = attempt;
  if (!resolved || resolved.estimatesTokens || FREE.has(exchange.operation?.task)) return undefined;
  const priced = (usage: Usage): Nano | UnknownPrice => priceOf(prices, usage, placeOf(attempt, resolved, receivedAt));
  if (tries.length === 0) return errorCode === undefined ? costOfCached(attempt, priced) : undefined;
  const status = tries.at(-1)!.status;
  if (unsent || (status !== undefined && status >= 400)) return undefined;
  return costOfSent(exchange, attempt, errorCode, priced);
}

type Priced = (usage: Usage) => Nano | UnknownPrice;

function costOfCached({ cache, signals }: Attempt, priced: Priced): RecordedCost | undefined {
  if (!FROM_CACHE.has(cache)) return undefined;
  const whole = signals?.usage && priced(signals.usage);
  return { nano: 0, unknown: undefined, source: 'cache', saved: typeof whole === 'number' ? whole : undefined };
}

function costOfSent(
  { operation, request }: Exchange,
  attempt: Attempt,
  errorCode: ErrorCode | undefined,
  priced: Priced,
): RecordedCost {
  const { signals } = attempt;
  const usage = signals?.ended && errorCode === undefined ? signals.usage : undefined;
  const source = usage ? 'reported' : 'estimated';
  if (!usage && !BY_BYTES.has(operation?.task)) return { nano: undefined, unknown: 'usage', source, saved: undefined };
  const cost = priced(usage ?? estimate(request.bodyBytes, attempt));
  return typeof cost === 'number'
    ? { nano: cost, unknown: undefined, source, saved: undefined }
    : { nano: undefined, unknown: cost, source, saved: undefined };
}

/** The last counts of the upstream, and no fewer tokens than it sent pieces; a piece has one token or more. */
function estimate(bytes: number, { signals, reply }: Attempt): Usage {
  const pieces = reply?.stream ? (signals?.progress ?? 0) : 0;
  const counted = signals?.usage;
  const input = counted?.input ?? Math.ceil(bytes / BYTES_PER_TOKEN);
  const output = Math.max(counted?.output ?? 0, pieces);
  return { ...counted, input, output, total: input + output };
}

function placeOf({ signals }: Attempt, { slug, provider, model, region }: ResolvedTarget, receivedAt: number) {
  const geo = signals?.usage?.geo ?? (region === undefined || region === 'global' ? undefined : 'regional');
  return { entry: slug, provider, model: signals?.model ?? model, asked: model, region, geo, day: dayOf(receivedAt) };
}

/** By the model that answered; if it has no price, by the model that was asked. */
function priceOf(prices: PriceList, usage: Usage, place: ReturnType<typeof placeOf>): Nano | UnknownPrice {
  const { model, asked } = place;
  const cost = prices.cost(usage, place);
  return cost !== 'model' || model === asked ? cost : prices.cost(usage, { ...place, model: asked });
}

const DAY_MS = 86_400_000;
let latestDay = { number: -1, text: '' };

/** UTC. Nearly all requests have the day of the one before. */
function dayOf(wallMs: number): string {
  const number = Math.floor(wallMs / DAY_MS);
  if (number !== latestDay.number) latestDay = { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) };
  return latestDay.text;
}

/** The sum of what is known; undefined without any known cost. */
export function sumOfCosts(
  attempts: readonly { readonly cost: RecordedCost | undefined }[],
  which: 'nano' | 'saved',
): Nano | undefined {
  let sum: Nano | undefined;
  for (const { cost } of attempts) {
    const nano = cost?.[which];
    if (nano !== undefined) sum = (sum ?? 0) + nano;
  }
  return sum;
}
