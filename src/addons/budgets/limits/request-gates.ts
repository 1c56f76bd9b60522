import { GatewayError, type Clock, type ErrorCode, type ModelTask } from '../../../plugin/index.ts';
import {
  isFromCache,
  type AppliedLimit,
  type Attempt,
  type Exchange,
  type TryRecord,
} from '../../../core/kernel/index.ts';
import type { CallerLimits, RateFigure, RateFigures } from '../../../core/kernel/rate-limits.ts';
import type { LimitedKind, LimitKind, RefusedLimit } from '../../../plugin/errors.ts';
import type { RateGates, TargetTicket } from '../../../core/kernel/rate-gates.ts';
import { comparedName } from '../../../core/catalog/globs.ts';
import type { Rate } from '../../../core/tenants/amounts.ts';
import type { Bucket } from './gcra.ts';
import type { Gate, GateDirectory } from './gate-directory.ts';
import { isRefusal, Ticket, type Gates, type Refusal } from './gates.ts';
import type { NodeTree } from '../../../core/tenants/tree.ts';
import { believedUsage } from '../../../core/record/booked-usage.ts';
import { cachedOfAll, totalOfAll } from '../prices/cost.ts';

interface RequestGatesSetup {
  readonly gates: Gates;
  /** Another one after a change of the state store. */
  readonly directory: GateDirectory;
  readonly tree: NodeTree;
  readonly clock: Pick<Clock, 'now'>;
  readonly onRefused: (node: LimitedKind, limit: LimitKind) => void;
}

export const entryRef = (slug: string): string => `entry:${slug}`;

/** The limits of requests, with their refusals as errors. */
export class RequestGates implements RateGates {
  readonly #setup: RequestGatesSetup;
  /** False: it only looks. */
  readonly #takes: boolean;
  readonly fetch: RateGates['fetch'];

  constructor(setup: RequestGatesSetup, takes = true) {
    this.#setup = setup;
    this.#takes = takes;
    this.fetch = setup.gates.isShared ? (...of) => this.#fetch(...of) : undefined;
  }

  get looking(): RateGates {
    return new RequestGates(this.#setup, false);
  }

  #fetch(exchange: Exchange, of?: 'tokens' | Attempt): Promise<unknown> | undefined {
    const { gates } = this.#setup;
    if (of === undefined) return gates.fetch(this.#callerGates(exchange), true, 0);
    if (of !== 'tokens') return gates.fetch(this.#targetGates(exchange, of), true, estimateOf(exchange));
    const { limits } = exchange;
    return limits instanceof EnteredLimits ? gates.fetch(limits.ticket.gates, false, estimateOf(exchange)) : undefined;
  }

  enter(exchange: Exchange): GatewayError | undefined {
    const { gates, clock } = this.#setup;
    const own = this.#callerGates(exchange);
    if (own.length === 0) return undefined;
    const entered = this.#takes ? gates.enter(own) : (gates.refusal(own) ?? new Ticket(own));
    if (isRefusal(entered)) {
      exchange.limits = new EnteredLimits(new Ticket(own), clock);
      return this.#refused(entered, false);
    }
    exchange.limits = new EnteredLimits(entered, clock);
    if (this.#takes) exchange.onEnd(() => gates.leave(entered, tokensOf(exchange, entered), cachedOf(exchange)));
    return undefined;
  }

  takeTokens(exchange: Exchange): GatewayError | undefined {
    const { gates } = this.#setup;
    const { limits } = exchange;
    if (!(limits instanceof EnteredLimits)) return undefined;
    const { ticket } = limits;
    const estimate = estimateOf(exchange);
    const refusal = this.#takes ? gates.takeTokens(ticket, estimate) : gates.tokensRefusal(ticket.gates, estimate);
    return refusal && this.#refused(refusal, false);
  }

  enterTarget(exchange: Exchange, attempt: Attempt): TargetTicket | GatewayError | undefined {
    const { gates } = this.#setup;
    const own = this.#targetGates(exchange, attempt);
    if (own.length === 0) return undefined;
    const estimate = estimateOf(exchange);
    if (!this.#takes) {
      const refusal = gates.refusal(own) ?? gates.tokensRefusal(own, estimate);
      return refusal && this.#refused(refusal, true);
    }
    const entered = gates.enter(own);
    if (isRefusal(entered)) return this.#refused(entered, true);
    const refusal = gates.takeTokens(entered, estimate);
    if (refusal) return this.#refused(refusal, true);
    const { bodyBytes } = exchange.request;
    return {
      leave: () => gates.leave(entered, usedTokens(attempt, estimate, bodyBytes), cachedTokens(attempt, bodyBytes)),
    };
  }

  #callerGates({ caller }: Exchange): readonly Gate[] {
    if (!caller) return NONE;
    const { tree, directory, gates } = this.#setup;
    const own = caller.limits && gates.ofCaller(caller.keyId, caller.limits);
    const whole = directory.whole(tree.pathOf(caller));
    return own ? [...whole, own] : whole;
  }

  #targetGates({ caller }: Exchange, { resolved }: Attempt): readonly Gate[] {
    if (!resolved) return NONE;
    const { tree, directory } = this.#setup;
    const { slug, model, adHoc } = resolved;
    // An entry that the request itself makes may have the name of a configured one.
    const entry = adHoc ? undefined : { ref: entryRef(slug) };
    const path = caller ? tree.pathOf(caller) : [];
    const name = comparedName(model);
    const ofModel = directory.ofModel(entry ? [entry, ...path] : path, name, `@${comparedName(slug)}/${name}`);
    const whole = entry && directory.one(entry.ref);
    return whole ? [whole, ...ofModel] : ofModel;
  }

  #refused({ gate, limit, retryAfterMs }: Refusal, ofTarget: boolean): GatewayError {
    const node = gate.of.kind;
    if (this.#takes) this.#setup.onRefused(node, limit);
    return limitError(describe(gate, limit), retryAfterMs, { limit, node, ofTarget });
  }
}

const NONE: readonly Gate[] = [];

/** Tasks for which no model counts tokens. */
const WITHOUT_TOKENS: ReadonlySet<ModelTask | undefined> = new Set([undefined, 'count_tokens', 'moderations']);

const estimateOf = ({ operation, request }: Exchange): number =>
  WITHOUT_TOKENS.has(operation?.task) ? 0 : (request.body?.roughTokens ?? 0);

/** The tokens of the request and its attempts; undefined where no rate counts tokens. */
function tokensOf({ attempts, request }: Exchange, { tokens: estimate }: Ticket): number | undefined {
  if (estimate === undefined) return undefined;
  return attempts.reduce((sum, attempt) => sum + usedTokens(attempt, estimate, request.bodyBytes), 0);
}

const cachedOf = ({ attempts, request }: Exchange): number =>
  attempts.reduce((sum, attempt) => sum + cachedTokens(attempt, request.bodyBytes), 0);

/** The try whose tokens count; undefined where nothing was sent. */
function sentTry(attempt: Attempt): TryRecord | undefined {
  const last = attempt.tries.at(-1);
  return isFromCache(attempt) || last?.sentAt === undefined ? undefined : last;
}

/**
 * The tokens of an attempt that has ended. Without a report of the upstream, or with one that cannot be true, the estimate counts for what
 * may have been read.
 * @param bytes of the request
 */
function usedTokens(attempt: Attempt, estimate: number, bytes: number): number {
  const last = sentTry(attempt);
  if (!last) return 0;
  const { signals } = attempt;
  const usage = believedUsage(attempt, signals, bytes);
  if (!usage) return last.status !== undefined && last.status >= 400 ? 0 : estimate;
  // A stream that was cut reports only what it had counted so far.
  return signals?.ended ? totalOfAll(usage) : Math.max(totalOfAll(usage), estimate);
}

function cachedTokens(attempt: Attempt, bytes: number): number {
  const usage = sentTry(attempt) && believedUsage(attempt, attempt.signals, bytes);
  return usage ? cachedOfAll(usage) : 0;
}

const CODES: Readonly<Record<LimitKind, ErrorCode>> = {
  requests: 'limit_requests',
  tokens: 'limit_tokens',
  concurrency: 'limit_concurrency',
};

const NAMES: Readonly<Record<Exclude<LimitedKind, 'entry' | 'address'>, string>> = {
  organization: 'the organization',
  team: 'the team',
  key: 'the key',
};

/** The caller's own limits have their figures; those of a target, which all callers share, have none. */
function describe({ of: { kind, id }, models, limits }: Gate, limit: LimitKind): string {
  if (kind === 'address') return UNAUTHENTICATED;
  if (kind === 'entry') return 'the target of this request takes no more for now';
  const toModel = models === undefined ? '' : ' to this model';
  return `${NAMES[kind]} ${id} may ${describeLimit(limits, limit)}${toModel}`;
}

/** Without a stack, which would show the code of the limit and costs more than the refusal. */
class LimitError extends GatewayError {
  protected static override readonly hasStack = false;
}

const UNAUTHENTICATED = 'requests without a valid key from this address';

/** The refusal of a request without a valid key; undefined: its address may have a 401. */
export function refuseAddress(
  { gates, onRefused }: Pick<RequestGatesSetup, 'gates' | 'onRefused'>,
  address: string,
): GatewayError | undefined {
  const wait = gates.addresses.count(address);
  if (wait === 0) return undefined;
  onRefused('address', 'requests');
  return limitError(UNAUTHENTICATED, wait, { limit: 'requests', node: 'address', ofTarget: false });
}

/** The clients of OpenAI's API that read no header look for the words of the wait (docs/protocols/openai-responses.md#failures). */
const limitError = (what: string, retryAfterMs: number, limit: RefusedLimit): GatewayError =>
  new LimitError(
    CODES[limit.limit],
    `Rate limit reached: ${what}. Please try again in ${Math.ceil(retryAfterMs) / 1000}s.`,
    { retryAfterMs, limit },
  );

function describeLimit({ requests, tokens, concurrency, leavesOutCached }: Gate['limits'], limit: LimitKind): string {
  if (limit === 'concurrency')
    return `send ${concurrency} ${concurrency === 1 ? 'request' : 'requests'} at the same time`;
  const rate = limit === 'requests' ? requests : tokens;
  const uncached = limit === 'tokens' && leavesOutCached ? 'uncached ' : '';
  return `send ${rate!.count} ${uncached}${limit} per ${PERIODS.get(rate!.perMs)}`;
}

const PERIODS: ReadonlyMap<number, string> = new Map([
  [1000, 'second'],
  [60_000, 'minute'],
  [3_600_000, 'hour'],
]);

class EnteredLimits implements CallerLimits {
  readonly ticket: Ticket;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(ticket: Ticket, clock: Pick<Clock, 'now'>) {
    this.ticket = ticket;
    this.#clock = clock;
  }

  get applied(): readonly AppliedLimit[] {
    return this.ticket.gates.flatMap(appliedOf);
  }

  figures(): RateFigures {
    const now = this.#clock.now();
    let requests: RateFigure | undefined;
    let tokens: RateFigure | undefined;
    for (const gate of this.ticket.gates) {
      requests = nearer(requests, gate.requests, gate.limits.requests, now);
      tokens = nearer(tokens, gate.tokens, gate.limits.tokens, now);
    }
    return { ...(requests && { requests }), ...(tokens && { tokens }) };
  }
}

function nearer(
  before: RateFigure | undefined,
  bucket: Bucket | undefined,
  rate: Rate | undefined,
  now: number,
): RateFigure | undefined {
  if (!bucket || !rate) return before;
  const remaining = Math.max(0, Math.floor(bucket.level(now)));
  if (before && before.remaining <= remaining) return before;
  return { limit: rate.count, remaining, resetMs: bucket.fullIn(now) };
}

function appliedOf({ of: { kind, id }, models, limits }: Gate): AppliedLimit[] {
  const of = { node: kind, id, models };
  const { requests, tokens, concurrency } = limits;
  return [
    ...(requests ? [{ ...of, limit: 'requests' as const, ...requests }] : []),
    ...(tokens ? [{ ...of, limit: 'tokens' as const, ...tokens }] : []),
    ...(concurrency === undefined
      ? []
      : [{ ...of, limit: 'concurrency' as const, count: concurrency, perMs: undefined }]),
  ];
}
