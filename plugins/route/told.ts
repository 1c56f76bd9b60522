import { failureKinds, GatewayError, type FailureKind } from '../../src/plugin/index.ts';

/** What a target refuses because of what it is; another one might have taken the request. */
const OF_THE_TARGET: ReadonlySet<FailureKind> = new Set([
  'invalid_request',
  'not_found',
  'auth',
  'unsupported',
  'context_length',
]);

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
