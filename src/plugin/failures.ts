import type { ErrorCode } from './error-codes.ts';
import { GatewayError, UpstreamError } from './errors.ts';

interface Kind {
  readonly fallsThrough: boolean;
  readonly help: string;
}
const passes = (help: string): Kind => ({ fallsThrough: true, help });
const stops = (help: string): Kind => ({ fallsThrough: false, help });

/**
 * Kinds of failure of one attempt, as a config names them in `on_errors` and `stop_on_errors`, and whether each falls
 * through by default. By default a failure falls through when another upstream may succeed. It stops when the caller or
 * the operator has to fix something, so that they see it.
 */
export const FAILURE_KINDS = {
  rate_limit: passes(
    '429: the upstream’s rate limit. Or a limit of the catalog entry or the model in the gateway (`limits`), which never counts for a circuit breaker and is never retried.',
  ),
  overloaded: passes('503 or 529: the upstream is overloaded.'),
  server_error: passes(
    'Another 5xx, 408 or 499 of the upstream; a reply that cannot be parsed (HTML with 200), or that is too large; a generation that the upstream reports as broken.',
  ),
  conflict: passes('409.'),
  quota: passes(
    'The upstream account has no credit left, or has reached its own spending limit (402, `insufficient_quota`, or a 400, 403, 412 or 429 with such a message).',
  ),
  connection: passes(
    'No connection, or it broke before a reply; a TLS failure; an address that the egress guard refuses.',
  ),
  credentials: passes(
    'The gateway could not get an access token for the catalog entry, or the upstream refuses the entry’s own credentials (401, or a 400 that says so, such as Google’s `API_KEY_INVALID`).',
  ),
  gateway_full: passes(
    'The gateway has no free connection (`connections`, sockets of the host). Never counts for a circuit breaker.',
  ),
  timeout_connect: passes('`timeouts.connect` passed.'),
  timeout_first_byte: passes('`timeouts.first_byte` passed.'),
  timeout_first_content: passes('`timeouts.first_content` passed.'),
  timeout_idle: passes('`timeouts.idle` passed before anything was sent to the client.'),
  timeout_total: passes('`timeouts.total` (`request_timeout`) passed. The `deadline` ends the whole request instead.'),
  stream_error: passes('A stream broke, or reported a failure of any kind, before anything was sent to the client.'),
  context_length: passes(
    'The prompt is longer than the model takes. Falls through to another model only, and only to one with a larger `context_window` when both declare theirs.',
  ),
  content_filter: stops(
    'The provider refuses the content of the prompt, or its content filter stops the whole answer. If listed in `on_errors`, it falls through to another model only.',
  ),
  auth: stops(
    '401 or 403: the upstream refuses the credentials in use. A 401 to the entry’s own credentials is `credentials` too, and falls through as such.',
  ),
  not_found: stops('404: the upstream has no such model.'),
  invalid_request: stops('Another 4xx: the upstream refuses the request itself.'),
  empty: stops(
    'The reply is complete and has no text and no call. A failure only where `on_errors` lists it, and only while another target can be tried.',
  ),
  finish_reason: stops(
    'The reply ended with a finish reason that `on_finish_reasons` lists. It falls through wherever `on_finish_reasons` lists the reason.',
  ),
  unsupported: passes('The model does not support the task (`unsupported_task`, `not_supported`); nothing was sent.'),
} as const satisfies Record<string, Kind>;

export type FailureKind = keyof typeof FAILURE_KINDS;

/** The codes of an upstream's failures by their kind; of the kinds of one code the most exact comes first. */
const CODES: readonly (readonly [FailureKind, ...ErrorCode[]])[] = [
  ['rate_limit', 'rate_limit_exceeded'],
  ['overloaded', 'overloaded'],
  ['server_error', 'upstream_error', 'timeout', 'reply_too_large'],
  ['conflict', 'upstream_conflict'],
  ['quota', 'insufficient_quota'],
  ['connection', 'connection_failed', 'tls_failed', 'egress_refused'],
  ['auth', 'invalid_api_key', 'upstream_credentials_refused', 'upstream_permission'],
  // A refused key of the entry is like a missing one: other entries have other keys.
  ['credentials', 'credentials_failed', 'upstream_credentials_refused'],
  ['timeout_connect', 'timeout_connect'],
  ['timeout_first_byte', 'timeout_first_byte'],
  ['timeout_first_content', 'timeout_first_content'],
  ['timeout_idle', 'timeout_idle'],
  ['timeout_total', 'timeout_total'],
  ['stream_error', 'stream_interrupted'],
  ['empty', 'empty_reply'],
  ['finish_reason', 'unwanted_finish'],
  ['context_length', 'context_length_exceeded'],
  ['content_filter', 'content_filter'],
  ['gateway_full', 'pool_exhausted', 'sockets_exhausted'],
  ['not_found', 'model_not_found'],
  ['invalid_request', 'upstream_rejected', 'request_too_large'],
];
const KINDS_BY_CODE = new Map<ErrorCode, readonly FailureKind[]>();
for (const [kind, ...codes] of CODES)
  for (const code of codes) KINDS_BY_CODE.set(code, [...(KINDS_BY_CODE.get(code) ?? []), kind]);

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
  const kinds = KINDS_BY_CODE.get(error.code) ?? [];
  const isOfStream = error.inStream && kinds.length > 0 && !kinds.includes('stream_error');
  return isOfStream ? [...kinds, 'stream_error'] : kinds;
}
