import { LIMIT_KINDS, LIMITED_KINDS } from '../kernel/rate-limits.ts';
import type { ErrorCode } from '../../plugin/index.ts';

/** Reasons of failed requests and attempts in metrics, spans and logs: a closed list, because it is a metric label. */
export const ERROR_TYPES = [
  'timeout_connect',
  'timeout_first_byte',
  'timeout_first_content',
  'timeout_idle',
  'timeout_total',
  'timeout_request',
  'rate_limited',
  'quota',
  'auth',
  'permission',
  'not_found',
  'invalid_request',
  'content_filter',
  'overloaded',
  'pool_exhausted',
  'server_error',
  'network',
  'tls',
  'client_disconnected',
  'shutdown',
  'other',
] as const;
export type ErrorTypeLabel = (typeof ERROR_TYPES)[number];

/** Reasons for which the gateway itself rejects a request. */
export type RejectionReason =
  | 'auth'
  | 'forbidden'
  | 'schema'
  | 'body_too_large'
  | 'routing'
  | 'not_found'
  | 'overload'
  | 'rate_limit'
  | 'budget';

/** How far a request was when its client disconnected. */
export type DisconnectStage = 'queued' | 'waiting' | 'streaming';

const LOAD_LIMITS = ['in_flight', 'in_flight_per_key', 'in_flight_bytes', 'in_flight_bytes_per_key'] as const;
export type LoadLimit = (typeof LOAD_LIMITS)[number];

/** Settings of `limits` that reject a request under load, with the action taken: a closed list, of labels. */
export const LIMIT_REFUSALS = [
  ...LOAD_LIMITS.flatMap((limit) => [
    { limit, action: 'refused' },
    { limit, action: 'dropped' },
  ]),
  { limit: 'large_bodies', action: 'refused' },
] as const;

export const RATE_LIMIT_REFUSALS = LIMITED_KINDS.flatMap((node) =>
  (node === 'address' ? (['requests'] as const) : LIMIT_KINDS).map((limit) => ({ node, limit })),
);

interface ErrorLabels {
  readonly errorType: ErrorTypeLabel;
  /** Set when the code can be the gateway's own rejection. */
  readonly rejection?: RejectionReason;
}

const invalid = (rejection: RejectionReason): ErrorLabels => ({ errorType: 'invalid_request', rejection });
const failure = (errorType: ErrorTypeLabel): ErrorLabels => ({ errorType });

/** The labels of every error code. The type requires an entry for each new code. */
export const ERROR_LABELS: Readonly<Record<ErrorCode, ErrorLabels>> = {
  invalid_json: invalid('schema'),
  invalid_request: invalid('schema'),
  invalid_encoding: invalid('schema'),
  invalid_value: invalid('schema'),
  missing_required_parameter: invalid('schema'),
  unsupported_parameter: invalid('schema'),
  duplicate_parameter: invalid('schema'),
  field_not_allowed: { errorType: 'permission', rejection: 'forbidden' },
  ambiguous_parameter: invalid('schema'),
  body_too_deep: invalid('schema'),
  too_many_keys: invalid('schema'),
  too_many_items: invalid('schema'),
  request_too_large: invalid('body_too_large'),
  unsupported_media_type: invalid('schema'),
  invalid_header: invalid('schema'),
  invalid_model: invalid('routing'),
  unsupported_task: invalid('routing'),
  not_supported: invalid('routing'),
  model_not_found: { errorType: 'not_found', rejection: 'routing' },
  unknown_provider: invalid('routing'),
  ambiguous_provider: invalid('routing'),
  provider_required: invalid('routing'),
  provider_conflict: invalid('routing'),
  invalid_config: invalid('routing'),
  unknown_config: invalid('routing'),
  unknown_prompt: invalid('routing'),
  prompt_not_allowed: { errorType: 'permission', rejection: 'forbidden' },
  upstream_credentials_required: { errorType: 'auth', rejection: 'auth' },
  malformed_request: invalid('schema'),
  headers_too_large: invalid('schema'),
  request_timeout: invalid('schema'),
  invalid_multipart: invalid('schema'),
  model_after_file: invalid('schema'),
  file_not_found: { errorType: 'not_found', rejection: 'not_found' },
  file_too_large: invalid('body_too_large'),
  file_quota_exceeded: { errorType: 'quota', rejection: 'forbidden' },
  file_not_inlinable: invalid('body_too_large'),
  previous_response_not_found: { errorType: 'not_found', rejection: 'not_found' },
  response_not_found: { errorType: 'not_found', rejection: 'not_found' },
  files_disabled: { errorType: 'not_found', rejection: 'not_found' },
  not_found: { errorType: 'not_found', rejection: 'not_found' },
  invalid_grant: { errorType: 'not_found', rejection: 'not_found' },
  unauthorized_client: { errorType: 'not_found', rejection: 'not_found' },
  method_not_allowed: { errorType: 'not_found', rejection: 'not_found' },
  upgrade_required: { errorType: 'not_found', rejection: 'not_found' },
  metadata_rejected: invalid('schema'),
  guard_denied: { errorType: 'permission', rejection: 'forbidden' },
  missing_api_key: { errorType: 'auth', rejection: 'auth' },
  invalid_api_key: { errorType: 'auth', rejection: 'auth' },
  expired_api_key: { errorType: 'auth', rejection: 'auth' },
  key_misconfigured: { errorType: 'permission', rejection: 'forbidden' },
  invalid_client_certificate: { errorType: 'auth', rejection: 'auth' },
  network_not_allowed: { errorType: 'permission', rejection: 'forbidden' },
  origin_not_allowed: { errorType: 'permission', rejection: 'forbidden' },
  provider_not_allowed: { errorType: 'permission', rejection: 'forbidden' },
  model_not_allowed: { errorType: 'permission', rejection: 'forbidden' },
  config_not_allowed: { errorType: 'permission', rejection: 'forbidden' },
  upstream_rejected: failure('invalid_request'),
  context_length_exceeded: failure('invalid_request'),
  content_filter: failure('content_filter'),
  upstream_permission: failure('permission'),
  insufficient_quota: failure('quota'),
  budget_exceeded: { errorType: 'rate_limited', rejection: 'budget' },
  budget_cut: failure('rate_limited'),
  budget_unavailable: { errorType: 'rate_limited', rejection: 'budget' },
  model_unpriced: { errorType: 'permission', rejection: 'forbidden' },
  rate_limit_exceeded: failure('rate_limited'),
  upstream_conflict: failure('other'),
  upstream_error: failure('server_error'),
  overloaded: failure('overloaded'),
  timeout: failure('server_error'),
  connection_failed: failure('network'),
  tls_failed: failure('tls'),
  egress_refused: failure('network'),
  credentials_failed: failure('auth'),
  upstream_credentials_refused: failure('auth'),
  pool_exhausted: failure('pool_exhausted'),
  sockets_exhausted: failure('network'),
  timeout_connect: failure('timeout_connect'),
  timeout_first_byte: failure('timeout_first_byte'),
  timeout_first_content: failure('timeout_first_content'),
  timeout_idle: failure('timeout_idle'),
  timeout_total: failure('timeout_total'),
  timeout_request: failure('timeout_request'),
  empty_reply: failure('server_error'),
  unwanted_finish: failure('server_error'),
  stream_interrupted: failure('network'),
  reply_too_large: failure('other'),
  file_store_failed: failure('server_error'),
  store_unavailable: failure('server_error'),
  limit_requests: { errorType: 'rate_limited', rejection: 'rate_limit' },
  limit_tokens: { errorType: 'rate_limited', rejection: 'rate_limit' },
  limit_concurrency: { errorType: 'rate_limited', rejection: 'rate_limit' },
  busy: { errorType: 'overloaded', rejection: 'overload' },
  body_too_slow: { errorType: 'overloaded', rejection: 'overload' },
  shutting_down: failure('shutdown'),
  client_closed: failure('client_disconnected'),
  guard_failed: failure('other'),
  reply_withheld: failure('other'),
  plugin_refused: { errorType: 'permission', rejection: 'forbidden' },
  plugin_call_failed: failure('other'),
  auth_unavailable: { errorType: 'auth', rejection: 'auth' },
  internal_error: failure('other'),
};
