import type { RequestBody, SkippedTarget, Target } from '../../src/core/kernel/index.ts';
import { failureKinds, GatewayError, type ErrorCode, type FailureKind } from '../../src/plugin/index.ts';

/** A target whose model has refused this request. The same model would refuse it again. */
export interface ModelRefusal {
  readonly target: Target;
  /** True: the prompt was too long. False: a content filter refused it. */
  readonly tooLong: boolean;
}

/** Why a target would refuse as well; undefined when it might succeed. */
export function reasonAgainst(
  target: Target,
  refusals: readonly ModelRefusal[],
  body: RequestBody | undefined,
): SkippedTarget['reason'] | undefined {
  const model = modelOf(target, body);
  if (refusals.some((refusal) => isSameModel(model, modelOf(refusal.target, body)))) return 'same_model';
  return refusals.some((refusal) => refusal.tooLong && !mayTakeMore(target, refusal.target))
    ? 'context_window'
    : undefined;
}

/** When either does not declare its context window, only a try can tell. */
const mayTakeMore = ({ contextWindow: one }: Target, { contextWindow: other }: Target): boolean =>
  one === undefined || other === undefined || one > other;

function modelOf({ overrideParams, defaultParams }: Target, body: RequestBody | undefined): string | undefined {
  const own = overrideParams?.['model'];
  if (typeof own === 'string') return own;
  const fallback = defaultParams?.['model'];
  return body?.string('model') ?? (typeof fallback === 'string' ? fallback : undefined);
}

/**
 * Whether two names mean the same model at any host: compared without catalog entry, family prefix and host-specific
 * version syntax. A name without a version matches any version; two different versions are two models.
 */
function isSameModel(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [here, there] = [bareName(one), bareName(other)];
  return here === there || here.replace(VERSION, '') === there || here === there.replace(VERSION, '');
}

/** `-20250929`, `-2024-08-06`, `-001` (a date or three digits), or a word for the current version. */
const VERSION = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest|default)$/;

/** `@slug/`, `publishers/x/models/`, any other path; then `family.`, letters only: `gpt-4.1` does not match. */
const PLACE = /^(?:.*\/)?(?:[a-z]+\.)?/i;

const bareName = (model: string): string => model.replace(PLACE, '').replace('@', '-').toLowerCase();

/** Failures that depend on the target itself: another target may take the request. */
const OF_THE_TARGET: ReadonlySet<FailureKind> = new Set([
  'invalid_request',
  'not_found',
  'auth',
  'unsupported',
  'context_length',
]);

/** The target refused the request by its own nature or by its model's content filter: another one may take it. */
export const isOfTheTarget = (error: unknown): boolean =>
  failureKinds(error).some((kind) => OF_THE_TARGET.has(kind) || kind === 'content_filter');

export const isForbidden = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'provider_not_allowed' || error.code === 'model_not_allowed');

/**
 * The last failure wins, but a fallback's refusal does not replace an earlier outage: the caller would take its request
 * for invalid and not retry. A used-up budget replaces it: a retry would spend no less.
 */
export function moreUseful(before: unknown, last: unknown): unknown {
  const wasOutage = failureKinds(before).length > 0 && !isRefusal(before);
  return wasOutage && isRefusal(last) && !isOfBudget(last) ? before : last;
}

const OF_BUDGET: ReadonlySet<ErrorCode> = new Set(['budget_exceeded', 'budget_unavailable']);

const isOfBudget = (error: unknown): boolean => error instanceof GatewayError && OF_BUDGET.has(error.code);

/** A refusal by the upstream, or by the gateway on its behalf before anything was sent. */
function isRefusal(error: unknown): boolean {
  const kinds = failureKinds(error);
  if (kinds.length > 0) return kinds.some((kind) => OF_THE_TARGET.has(kind));
  return error instanceof GatewayError && error.status < 500 && error.code !== 'client_closed';
}
