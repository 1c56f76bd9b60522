import { failureKinds, GatewayError, type ErrorCode, type FailureKind } from '../../src/plugin/index.ts';

/** Failures that depend on the target itself: another target may take the request. */
const OF_THE_TARGET: ReadonlySet<FailureKind> = new Set([
  'invalid_request',
  'not_found',
  'auth',
  'unsupported',
  'context_length',
]);

/**
 * Whether another target may take the request: this one refused it by its own nature or by its model's content filter.
 */
export const isOfTheTarget = (error: unknown): boolean =>
  failureKinds(error).some((kind) => OF_THE_TARGET.has(kind) || kind === 'content_filter');

/** Whether the caller may not use this target. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'provider_not_allowed' || error.code === 'model_not_allowed');

/**
 * Selects the error for the client after another failure. The last failure wins, with one exception: a fallback's
 * refusal does not replace the outage of an earlier target, because the caller would take its request for invalid and
 * not retry. A used-up budget replaces it: a retry would spend no less.
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
