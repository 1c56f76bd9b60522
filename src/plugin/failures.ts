import { GatewayError, UpstreamError, type ErrorCode } from './errors.ts';

/**
 * Kinds of failure of one attempt, by which a config says what gives way to another target (`on_errors`, `stop_on_errors`), and
 * whether they do so where a config says nothing: what another upstream may do better goes on, what the caller or the operator
 * has to mend stops, so that it is seen.
 */
export const FAILURE_KINDS = {
  rate_limit: { fallsThrough: true, help: '429: the upstream’s rate limit.' },
  overloaded: { fallsThrough: true, help: '503 or 529: the upstream is overloaded.' },
  server_error: {
    fallsThrough: true,
    help: 'Another 5xx, 408 or 499 of the upstream; an answer that cannot be read (HTML with 200), or that is too large.',
  },
  conflict: { fallsThrough: true, help: '409.' },
  quota: { fallsThrough: true, help: 'The upstream account has no credit left (402, `insufficient_quota`).' },
  connection: {
    fallsThrough: true,
    help: 'No connection, or it broke before a reply; TLS; an address the egress guard refuses.',
  },
  credentials: { fallsThrough: true, help: 'No access token could be had for the catalog entry.' },
  gateway_full: {
    fallsThrough: true,
    help: 'The gateway has no connection free (`connections`, sockets of the host). Never counts for a circuit breaker.',
  },
  timeout_connect: { fallsThrough: true, help: '`timeouts.connect` passed.' },
  timeout_first_byte: { fallsThrough: true, help: '`timeouts.first_byte` passed.' },
  timeout_first_content: { fallsThrough: true, help: '`timeouts.first_content` passed.' },
  timeout_idle: { fallsThrough: true, help: '`timeouts.idle` passed before anything had left.' },
  timeout_total: {
    fallsThrough: true,
    help: '`timeouts.total` (`request_timeout`) passed; not the `deadline`, which ends all.',
  },
  stream_error: {
    fallsThrough: true,
    help: 'A stream that broke, or told of a failure of any kind, before anything had left.',
  },
  context_length: {
    fallsThrough: true,
    help: 'The prompt is longer than the model takes. Goes to another model only, and to one with a larger `context_window` where both say theirs.',
  },
  content_filter: {
    fallsThrough: false,
    help: 'The provider refuses the prompt for what it says, or answers nothing but a filter’s stop. If told to go on: to another model only.',
  },
  auth: { fallsThrough: false, help: '401 or 403: the upstream refuses the credentials in use.' },
  not_found: { fallsThrough: false, help: '404: the upstream has no such model.' },
  invalid_request: { fallsThrough: false, help: 'Another 4xx: the upstream refuses the request itself.' },
  unsupported: {
    fallsThrough: true,
    help: 'The target’s model cannot be asked this (`unsupported_task`): nobody was asked.',
  },
} as const satisfies Record<string, { readonly fallsThrough: boolean; readonly help: string }>;

export type FailureKind = keyof typeof FAILURE_KINDS;

/** What failures of a group's member give way to the next one. */
export interface FallThroughRules {
  readonly kinds: ReadonlySet<FailureKind>;
  readonly statusCodes: ReadonlySet<number>;
  /** End the chain whatever the others say. */
  readonly stop: ReadonlySet<FailureKind>;
}

const KIND_BY_CODE: ReadonlyMap<ErrorCode, FailureKind> = new Map([
  ['rate_limit_exceeded', 'rate_limit'],
  ['overloaded', 'overloaded'],
  ['upstream_error', 'server_error'],
  ['timeout', 'server_error'],
  ['reply_too_large', 'server_error'],
  ['upstream_conflict', 'conflict'],
  ['insufficient_quota', 'quota'],
  ['connection_failed', 'connection'],
  ['tls_failed', 'connection'],
  ['egress_refused', 'connection'],
  ['credentials_failed', 'credentials'],
  ['timeout_connect', 'timeout_connect'],
  ['timeout_first_byte', 'timeout_first_byte'],
  ['timeout_first_content', 'timeout_first_content'],
  ['timeout_idle', 'timeout_idle'],
  ['timeout_total', 'timeout_total'],
  ['stream_interrupted', 'stream_error'],
  ['context_length_exceeded', 'context_length'],
  ['content_filter', 'content_filter'],
  ['pool_exhausted', 'gateway_full'],
  ['sockets_exhausted', 'gateway_full'],
  ['invalid_api_key', 'auth'],
  ['upstream_credentials_refused', 'auth'],
  ['upstream_permission', 'auth'],
  ['model_not_found', 'not_found'],
  ['upstream_rejected', 'invalid_request'],
  ['request_too_large', 'invalid_request'],
]);

/** Kinds a failure is of: what went wrong, and that it did so inside a stream. None: it is no failure of a target, and nothing gives way to it. */
export function failureKinds(error: unknown): readonly FailureKind[] {
  if (!(error instanceof UpstreamError))
    return error instanceof GatewayError && error.code === 'unsupported_task' ? ['unsupported'] : [];
  const kind = KIND_BY_CODE.get(error.code);
  if (kind === undefined) return [];
  return error.inStream && kind !== 'stream_error' ? [kind, 'stream_error'] : [kind];
}

/** By the rules of a group, its next member is asked after this failure. */
export function fallsThroughTo({ kinds, statusCodes, stop }: FallThroughRules, error: GatewayError): boolean {
  const own = failureKinds(error);
  if (own.length === 0 || own.some((kind) => stop.has(kind))) return false;
  return statusCodes.has(error.status) || own.some((kind) => kinds.has(kind));
}

const SILENCES: ReadonlySet<ErrorCode> = new Set([
  'pool_exhausted',
  'timeout_connect',
  'timeout_first_byte',
  'timeout_first_content',
  'timeout_idle',
]);

/** A whole wait was in vain (for a connection, an answer, more of it): the same target would cost as much time once more. */
export function isSilence(error: unknown): boolean {
  return error instanceof UpstreamError && SILENCES.has(error.code);
}

/** The same words to the same model meet the same answer: never sent there again. */
export function isFinalForModel(error: unknown): boolean {
  return (
    error instanceof UpstreamError && (error.code === 'context_length_exceeded' || error.code === 'content_filter')
  );
}

/** Statuses below 500 by which an upstream gives up on its own account, whatever the token. */
const OF_UPSTREAM: ReadonlySet<number> = new Set([408, 499]);

/**
 * An answer to the token a caller brought, not to the request as others would send it: 401, 403, 429 and every other 4xx depend on
 * the account behind the token. A 5xx, a timeout or a connection that fails does not.
 */
export const isOfCallersToken = ({ toCallersToken, status }: GatewayError): boolean =>
  toCallersToken && status < 500 && !OF_UPSTREAM.has(status);

/** It says something of the target's health: neither the gateway's own state nor the end of the request's time does. */
export const countsAgainstTarget = (error: GatewayError): boolean =>
  error instanceof UpstreamError && !error.ofGateway && failureKinds(error).length > 0;
