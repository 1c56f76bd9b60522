import { UpstreamError, type ErrorCode, type GatewayError, type ReplyEnd } from '../../plugin/index.ts';
import type { Attempt, Exchange } from '../kernel/index.ts';

/** End of a request, or its current state while it runs. */
export type RecordEnd = Omit<ReplyEnd, 'state'> & { readonly state: ReplyEnd['state'] | 'running' };

/** Failures of a target before any try: no token, no permitted address, no connection. */
const ON_THE_WAY: ReadonlySet<ErrorCode> = new Set([
  'credentials_failed',
  'egress_refused',
  'connection_failed',
  'tls_failed',
  'timeout_connect',
  'pool_exhausted',
  'sockets_exhausted',
]);

export const isUnsent = (errorCode: ErrorCode | undefined): boolean =>
  errorCode !== undefined && ON_THE_WAY.has(errorCode);

/** How an attempt ended. Both are undefined for one that succeeded. */
interface AttemptEnd {
  readonly error: GatewayError | undefined;
  readonly errorCode: ErrorCode | undefined;
}

export function endOfAttempt(exchange: Exchange, attempt: Attempt, end: RecordEnd): AttemptEnd {
  const isLast = attempt === exchange.attempts.at(-1);
  const ofReply = isLast ? (end.error ?? exchange.error) : undefined;
  const error = attempt.error ?? (ofReply && errorOfReply(ofReply, attempt));
  if (attempt.error) return { error, errorCode: attempt.error.code };
  // An earlier attempt without an error of its own must have failed.
  if (!isLast) return { error, errorCode: 'upstream_error' };
  return { error, errorCode: end.state === 'aborted' ? 'client_closed' : error?.code };
}

/** Errors by which the gateway ends a healthy reply: the target has not failed, and the reply is not complete. */
const ENDED_BY_GATEWAY: ReadonlySet<ErrorCode> = new Set(['shutting_down', 'timeout_request', 'budget_cut']);

/** An error of the reply belongs to the last attempt, except a plugin's failure after a complete answer. */
function errorOfReply(error: GatewayError, attempt: Attempt): GatewayError | undefined {
  if (!attempt.reply || error instanceof UpstreamError) return error;
  return isEndedByGateway(error) && !attempt.signals?.ended ? error : undefined;
}

export const isEndedByGateway = (error: GatewayError | undefined): boolean =>
  error !== undefined && ENDED_BY_GATEWAY.has(error.code) && !(error instanceof UpstreamError);
