import type { ErrorCode } from './error-codes.ts';
import { GatewayError, UpstreamError } from './errors.ts';

/**
 * Kinds of failure of one attempt, as a config names them in `on_errors` and `stop_on_errors`, and whether each falls
 * through by default. By default a failure falls through when another upstream may succeed. It stops when the caller or
 * the operator has to fix something, so that they see it.
 */
export const FAILURE_KINDS = {
  rate_limit: {
    fallsThrough: true,
    help: '429: the upstream’s rate limit. Or a limit of the catalog entry or the model in the gateway (`limits`), which never counts for a circuit breaker and is never retried.',
  },
  overloaded: { fallsThrough: true, help: '503 or 529: the upstream is overloaded.' },
  server_error: {
    fallsThrough: true,
    help: 'Another 5xx, 408 or 499 of the upstream; a reply that cannot be parsed (HTML with 200), or that is too large; a generation that the upstream reports as broken.',
  },
  conflict: { fallsThrough: true, help: '409.' },
  quota: {
    fallsThrough: true,
    help: 'The upstream account has no credit left, or has reached its own spending limit (402, `insufficient_quota`, or a 400, 403, 412 or 429 with such a message).',
  },
  connection: {
    fallsThrough: true,
    help: 'No connection, or it broke before a reply; a TLS failure; an address that the egress guard refuses.',
  },
  credentials: {
    fallsThrough: true,
    help: 'The gateway could not get an access token for the catalog entry, or the upstream refuses the entry’s own credentials (401, or a 400 that says so, such as Google’s `API_KEY_INVALID`).',
  },
  gateway_full: {
    fallsThrough: true,
    help: 'The gateway has no free connection (`connections`, sockets of the host). Never counts for a circuit breaker.',
  },
  timeout_connect: { fallsThrough: true, help: '`timeouts.connect` passed.' },
  timeout_first_byte: { fallsThrough: true, help: '`timeouts.first_byte` passed.' },
  timeout_first_content: { fallsThrough: true, help: '`timeouts.first_content` passed.' },
  timeout_idle: { fallsThrough: true, help: '`timeouts.idle` passed before anything was sent to the client.' },
  timeout_total: {
    fallsThrough: true,
    help: '`timeouts.total` (`request_timeout`) passed. The `deadline` ends the whole request instead.',
  },
  stream_error: {
    fallsThrough: true,
    help: 'A stream broke, or reported a failure of any kind, before anything was sent to the client.',
  },
  context_length: {
    fallsThrough: true,
    help: 'The prompt is longer than the model takes. Falls through to another model only, and only to one with a larger `context_window` when both declare theirs.',
  },
  content_filter: {
    fallsThrough: false,
    help: 'The provider refuses the content of the prompt, or its content filter stops the whole answer. If listed in `on_errors`, it falls through to another model only.',
  },
  auth: {
    fallsThrough: false,
    help: '401 or 403: the upstream refuses the credentials in use. A 401 to the entry’s own credentials is `credentials` too, and falls through as such.',
  },
  not_found: { fallsThrough: false, help: '404: the upstream has no such model.' },
  invalid_request: { fallsThrough: false, help: 'Another 4xx: the upstream refuses the request itself.' },
  empty: {
    fallsThrough: false,
    help: 'The reply is complete and has no text and no call. A failure only where `on_errors` lists it, and only while another target can be tried.',
  },
  finish_reason: {
    fallsThrough: false,
    help: 'The reply ended with a finish reason that `on_finish_reasons` lists. It falls through wherever `on_finish_reasons` lists the reason.',
  },
  unsupported: {
    fallsThrough: true,
    help: 'The target’s model does not support the task (`unsupported_task`, `not_supported`); nothing was sent.',
  },
} as const satisfies Record<string, { readonly fallsThrough: boolean; readonly help: string }>;

export type FailureKind = keyof typeof FAILURE_KINDS;

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
  ['empty_reply', 'empty'],
  ['unwanted_finish', 'finish_reason'],
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

/** Further kinds of a failure, by its code. A refused key of the entry is like a missing one: other entries have other keys. */
const ALSO_BY_CODE: ReadonlyMap<ErrorCode, FailureKind> = new Map([['upstream_credentials_refused', 'credentials']]);

const UNSUPPORTED: ReadonlySet<ErrorCode> = new Set(['unsupported_task', 'not_supported']);

/**
 * The kinds of a failure: its cause, the most exact kind first, and `stream_error` when it happened inside a stream. An
 * empty list is not a failure of a target and never falls through.
 */
export function failureKinds(error: unknown): readonly FailureKind[] {
  if (!(error instanceof UpstreamError)) {
    if (!(error instanceof GatewayError)) return [];
    if (error.limit?.ofTarget) return ['rate_limit'];
    return UNSUPPORTED.has(error.code) ? ['unsupported'] : [];
  }
  const kind = KIND_BY_CODE.get(error.code);
  if (kind === undefined) return [];
  const also = ALSO_BY_CODE.get(error.code);
  const kinds = also === undefined ? [kind] : [kind, also];
  return error.inStream && kind !== 'stream_error' ? [...kinds, 'stream_error'] : kinds;
}
