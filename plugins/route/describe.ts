import { failureKinds, GatewayError, type FailureKind } from '../../src/plugin/index.ts';

/** What a target refuses because of what it is; another one might have taken the request. */
const OF_THE_TARGET: ReadonlySet<FailureKind> = new Set([
  'invalid_request',
  'not_found',
  'auth',
  'unsupported',
  'context_length',
]);

/** Another target may well take the request: this one refused it for what it is, or for what its model will not hear. */
export const isOfTheTarget = (error: unknown): boolean =>
  failureKinds(error).some((kind) => OF_THE_TARGET.has(kind) || kind === 'content_filter');

/** The caller may not have this target, as if it were not there for it. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof GatewayError && (error.code === 'provider_not_allowed' || error.code === 'model_not_allowed');

/**
 * What the client is told after one more failure. The last one speaks for all, with one exception: that a fallback cannot take
 * the request is no answer to a caller whose first target was only unwell. It would take its request for wrong, and not try again.
 */
export function moreUseful(before: unknown, last: unknown): unknown {
  const wasUnwell = failureKinds(before).length > 0 && !isRefusal(before);
  return wasUnwell && isRefusal(last) ? before : last;
}

/** By the upstream, or by the gateway in its stead before anything was sent. */
function isRefusal(error: unknown): boolean {
  const kinds = failureKinds(error);
  if (kinds.length > 0) return kinds.some((kind) => OF_THE_TARGET.has(kind));
  return error instanceof GatewayError && error.status < 500 && error.code !== 'client_closed';
}
