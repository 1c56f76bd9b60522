import type { Attempt, EmbeddingCall, Exchange, ResolvedTarget } from '../kernel/index.ts';
import type { ErrorCode } from '../../plugin/index.ts';
import type { Usage } from '../../formats/events.ts';
import type { Nano } from '../ports/money.ts';

/**
 * reported: by what the upstream counted. estimated: by its counts before the cut, else by the bytes of the request and
 * the text and pieces of the reply, else the reserve. cache: nothing was sent.
 */
type CostSource = 'reported' | 'estimated' | 'cache';

/** `usage`: the upstream does not say what was used, and bytes do not tell. */
export type UnknownCost = 'model' | 'date' | 'tier' | 'kind' | 'usage';

/** The cost of an attempt, or of one of its tries. Of the two first values, one is undefined. */
export interface RecordedCost {
  readonly nano: Nano | undefined;
  /** Why the cost is unknown; it is not 0. */
  readonly unknown: UnknownCost | undefined;
  readonly source: CostSource;
  readonly saved: Nano | undefined;
}

export interface AttemptCosts {
  /** Undefined where nothing was sent, or the upstream refused: providers charge for no such request. */
  readonly cost: RecordedCost | undefined;
  /** Of the tries before, whose replies were lost. */
  readonly lost: readonly RecordedCost[];
}

export interface CostBasis {
  readonly errorCode: ErrorCode | undefined;
  /** Wall clock. */
  readonly receivedAt: number;
  /** By `believedUsage`, of the attempt's own signals. */
  readonly believed: Usage | undefined;
}

export const NO_COSTS: AttemptCosts = { cost: undefined, lost: [] };

/** Who pays for a request, as the ledger has it besides the record. */
export interface Payer {
  /** Id of the request in the ledger. `x-request-id` cannot be it, because callers may repeat theirs. */
  readonly req: string;
  /** The id in log and record; empty: it is `req`. */
  readonly requestId: string;
  readonly organization: string | undefined;
  /** The person or service that is responsible for the key. */
  readonly user: string | undefined;
  readonly priceVersion: string;
}

/** The prices with which a request began. An add-on has them. */
export interface RequestPrices {
  costsOf(exchange: Exchange, attempt: Attempt, basis: CostBasis): AttemptCosts;
  /** The cost of a call for the vectors of a semantic cache; undefined for one that was not sent, or refused. */
  costOfVectors(call: EmbeddingCall | undefined, receivedAt: number): RecordedCost | undefined;
  /** Whether the model of a request has a price. A name without one is that of a deployment, which any model may serve. */
  knows(resolved: ResolvedTarget, receivedAt: number): boolean;
  payerOf(exchange: Exchange, receivedAt: number): Payer;
}

/** Google charges the same for all locations but `global`. An entry without a location may be in any, and `global` is the cheapest. */
export const geoOf = (provider: string, region: string | undefined): string | undefined =>
  provider === 'vertex-ai' ? (region === 'global' ? undefined : 'regional') : region;

/** Each cost of an attempt, that of its call for vectors among them. */
interface CostsOfAttempt {
  readonly cost: RecordedCost | undefined;
  readonly lostCosts: readonly RecordedCost[];
  readonly semantic?: { readonly embedding: { readonly cost: RecordedCost | undefined } | undefined } | undefined;
}

/** The sums of what is known; undefined without any known cost. */
export function totalCost(attempts: readonly CostsOfAttempt[]): Omit<RecordedCost, 'source'> | undefined {
  const [only] = attempts;
  // Most requests have one attempt with one cost, which needs no list (0.4 µs a request).
  if (only && attempts.length === 1 && only.lostCosts.length === 0 && !only.semantic?.embedding) return only.cost;
  const costs = attempts.flatMap(({ cost, lostCosts, semantic }) => [cost, ...lostCosts, semantic?.embedding?.cost]);
  const unknown = costs.find((cost) => cost?.unknown)?.unknown;
  return { nano: sumOf(costs, 'nano'), saved: sumOf(costs, 'saved'), unknown };
}

export function sumOf(costs: readonly (RecordedCost | undefined)[], which: 'nano' | 'saved'): Nano | undefined {
  let total: Nano | undefined;
  for (const cost of costs) {
    const nano = cost?.[which];
    if (nano !== undefined) total = (total ?? 0) + nano;
  }
  return total;
}
