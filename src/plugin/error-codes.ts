/**
 * The table of every error reply: stable code → HTTP status, OpenAI error type, and whether another attempt (retry or
 * fallback) may help. Clients branch on status and code; no other file defines a status.
 */

export interface ErrorKind {
  readonly status: number;
  readonly type: ErrorType;
  /** Whether a retry or another target may succeed. */
  readonly retryable: boolean;
  /** The upstream's own status, for rules and records; the client gets `status`. */
  readonly seenAs?: number;
  /** Caused by the gateway's own state or settings; does not count against the target's health. */
  readonly ofGateway?: true;
  /** The reply tells SDKs not to retry: the same credentials would be refused again. */
  readonly final?: true;
  /** Meaning and remedy, for docs/reference/errors.md. */
  readonly help: string;
}

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'rate_limit_error'
  | 'insufficient_quota'
  | 'server_error';

type Help = (help: string) => ErrorKind;
const invalid =
  (status: number): Help =>
  (help) => ({ status, type: 'invalid_request_error', retryable: false, help });
const denied =
  (status: 401 | 403): Help =>
  (help) => ({
    status,
    type: status === 401 ? 'authentication_error' : 'permission_error',
    retryable: false,
    final: true,
    help,
  });
const failing =
  (more: Partial<ErrorKind>) =>
  (status: number): Help =>
  (help) => ({ status, type: 'server_error', retryable: true, ...more, help });
const failed = failing({});
const failedForGood = failing({ retryable: false });
/** Of the gateway's own state or settings. */
const failedHere = failing({ ofGateway: true });
const failedHereForGood = failing({ ofGateway: true, retryable: false });
const outOfBudget = (help: string) =>
  ({ status: 429, type: 'insufficient_quota', retryable: false, ofGateway: true, final: true, help }) as const;
const limited = (what: string): ErrorKind => ({
  status: 429,
  type: 'rate_limit_error',
  retryable: false,
  ofGateway: true,
  help: `The key, its team, its organization, the model or the catalog entry has reached its limit of ${what}. Nothing was sent; \`retry-after\` says how long to wait. Clients of OpenAI’s API get the code \`rate_limit_exceeded\`.`,
});

export const ERRORS = {
  // Faults of the request
  invalid_json: invalid(400)('The body is not one JSON document. The message says where it breaks.'),
  invalid_encoding: invalid(400)('The body is not what its `Content-Encoding` says, or ends too early.'),
  invalid_request: invalid(400)('A field has the wrong type or value; `param` names it.'),
  invalid_value: invalid(400)('A field has a value that cannot be used; `param` names it.'),
  missing_required_parameter: invalid(400)('A field the target needs is missing, such as `max_tokens` for Claude.'),
  unsupported_parameter: invalid(400)('The target cannot express this field; `param` names it.'),
  duplicate_parameter: invalid(400)(
    'A key occurs twice in one object of the body; `param` names the key of the body, or the object inside it. The gateway sends only what it has checked.',
  ),
  field_not_allowed: invalid(400)(
    'The `fields` of the key or of the catalog entry do not allow a field of the request, the id of an object at the vendor in it, or the bucket of a `gs://` address; `param` names its place.',
  ),
  ambiguous_parameter: invalid(400)(
    'A key differs in case alone (Unicode simple folding) from a field that the gateway reads or sets; some upstreams take one for the other. `param` names the key.',
  ),
  body_too_deep: invalid(400)('The body nests deeper than `limits.json_depth`.'),
  too_many_keys: invalid(400)('An object of the body has more keys than `limits.json_keys`; `param` names its place.'),
  too_many_items: invalid(400)('A list of the body has more items than `limits.json_items`; `param` names its place.'),
  request_too_large: invalid(413)(
    'The body exceeds `limits.body` or the limit of the target (32 MB at the Anthropic API), or decodes to more than 1 MiB and a hundred times its received size, or a text is longer than the limit of a config’s `$regex`.',
  ),
  unsupported_media_type: invalid(415)(
    'Send `Content-Type: application/json`, or `multipart/form-data` for a file, with `Content-Encoding` gzip, deflate, br, zstd or none.',
  ),
  invalid_header: invalid(400)('A gateway header has a value that cannot be used; the message names it.'),
  invalid_model: invalid(400)('The model name cannot be used, such as one with `..` or a slash where none belongs.'),
  unsupported_task: invalid(400)('The model has no such task at the target, such as embeddings of a chat model.'),
  not_supported: {
    ...invalid(501)(
      'The upstream counts no tokens. `count: estimate` of the catalog entry makes the gateway estimate them. The reply carries `x-should-retry: false`.',
    ),
    final: true,
  },
  model_not_found: invalid(404)('No such model where the request was sent.'),
  unknown_provider: invalid(400)('No catalog entry has this slug. See `catalog.yaml`.'),
  ambiguous_provider: invalid(400)('Several catalog entries fit the provider name; name one by `@slug`.'),
  provider_required: invalid(400)('No provider is named: use `@slug/model`, `x-gateway-provider` or a config.'),
  provider_conflict: invalid(400)('The model names another catalog entry than the target of the config.'),
  invalid_config: invalid(400)(
    'The gateway config in `x-gateway-config` has an error; the message gives its place, as `validate` does.',
  ),
  unknown_config: invalid(400)('No gateway config has this id. See `configs/gateway/`.'),
  unknown_prompt: invalid(404)('No prompt of `configs/prompts/` has this id, or it has no such version or label.'),
  upstream_credentials_required: denied(401)('This catalog entry needs the caller’s own token in `Authorization`.'),
  malformed_request: invalid(400)(
    'The request is not valid HTTP, has two headers `Host` or `Authorization`, or has a transfer coding other than `chunked`; the gateway closes the connection.',
  ),
  headers_too_large: invalid(431)('The request headers exceed `limits.header`.'),
  request_timeout: invalid(408)('The request did not arrive completely in time; the gateway closes the connection.'),
  invalid_multipart: invalid(400)(
    'The body is no usable multipart form: cut off, without a boundary, or with too many or too long fields.',
  ),
  model_after_file: invalid(400)('The file precedes `model` and exceeds `limits.form_held`. Send `model` first.'),
  file_not_found: invalid(404)('The key has no such file: it belongs to another key, was deleted, or has expired.'),
  file_too_large: invalid(413)('The uploaded file exceeds `files.max_file_bytes`.'),
  file_quota_exceeded: invalid(403)('With this file the key exceeds `files.max_total_bytes` or `files.max_files`.'),
  file_not_inlinable: invalid(400)(
    'A stored file cannot be sent to this target inline: it exceeds `files.inline_bytes`, or the part cannot hold its type.',
  ),
  previous_response_not_found: invalid(400)(
    'The request continues a response that is not kept for this key, or no longer: send the whole `input`.',
  ),
  response_not_found: invalid(404)(
    'The key has no response with this id: it was not kept, belongs to another key, was deleted, or has expired.',
  ),
  files_disabled: invalid(404)('This gateway stores no files: server.yaml has no `files`.'),
  not_found: invalid(404)('No such route.'),
  invalid_grant: denied(401)('A client tried to renew a sign-in. The gateway has none: use a gateway key.'),
  unauthorized_client: invalid(400)('A client tried to sign in. The gateway has no sign-in: use a gateway key.'),
  method_not_allowed: invalid(405)('The route exists for another method.'),
  upgrade_required: invalid(426)(
    'The route has no WebSocket form, or `websockets.enabled` is off: send the request over HTTP. Or the route is for WebSockets only.',
  ),
  // Who the client is
  missing_api_key: denied(401)(
    'Send a gateway key in `x-gateway-api-key`, `Authorization: Bearer`, `x-api-key`, `x-goog-api-key` or `?key=`.',
  ),
  invalid_api_key: denied(401)(
    'The gateway does not know this key, or the key is disabled; or the upstream refused the caller’s own token (401), and the message is the upstream’s.',
  ),
  expired_api_key: denied(401)('The key has expired.'),
  key_misconfigured: denied(403)(
    'The key, or a caller that a plugin has made, names something, such as a team, that does not exist or is not valid.',
  ),
  invalid_client_certificate: denied(401)(
    'The connection has no client certificate that `tls.client_ca` verifies, or not the one that the key demands (`client_certificate`).',
  ),
  network_not_allowed: denied(403)('The key may not be used from this address.'),
  origin_not_allowed: denied(403)('A web page of another origin tried to open a WebSocket; see `websockets.origins`.'),
  provider_not_allowed: denied(403)('The key may not use this catalog entry.'),
  model_not_allowed: denied(403)('The key or the catalog entry does not allow this model.'),
  config_not_allowed: denied(403)('The key may not use this gateway config, or none of its own (`inline_configs`).'),
  prompt_not_allowed: denied(403)('The key may not use this prompt, or the gateway config pins another version.'),
  metadata_rejected: invalid(400)(
    'The gateway config requires metadata that is missing, or does not allow a value; or a value differs from that of a gateway key with `bound: strict`. The message names the metadata key.',
  ),
  guard_denied: {
    ...invalid(400)(
      'A guard of the server, the key, the config or the target refused the request or its reply; the message names the guard. The reply carries `x-should-retry: false`.',
    ),
    ofGateway: true,
    final: true,
  },
  // Answers of the upstream: status and message are its own, see UpstreamError
  upstream_rejected: invalid(400)('The upstream refused the request; status and message are the upstream’s.'),
  context_length_exceeded: invalid(400)('The prompt is longer than the model takes.'),
  content_filter: invalid(400)('The provider’s content filter refused the prompt or the whole answer.'),
  upstream_permission: denied(403)('The credentials in use do not permit this at the upstream.'),
  insufficient_quota: {
    status: 402,
    type: 'insufficient_quota',
    retryable: false,
    final: true,
    help: 'The upstream account has no credit left, or has reached its own spending limit. The reply carries `x-should-retry: false`.',
  },
  // Budgets of the gateway itself: no retry, no fallback, nothing for a breaker to count.
  budget_exceeded: outOfBudget(
    'A budget of the key, its team or its organization cannot cover the request; the message names the budget. Nothing was sent. The reply carries `x-should-retry: false`. OpenAI clients get the code `insufficient_quota`, Anthropic clients the type `billing_error`.',
  ),
  budget_cut: outOfBudget(
    'A stream cost more than was reserved for it, and a budget had no room for more (`on_overrun: cut` of the plugin `budget`). What arrived before is booked. Clients get the error as that of `budget_exceeded`, as the last event of the stream.',
  ),
  budget_unavailable: {
    status: 429,
    type: 'rate_limit_error',
    retryable: false,
    ofGateway: true,
    help: 'The process has to ask the store for more room in a budget, near its cap; or the store does not answer. Nothing was sent; `retry-after` says how long to wait.',
  },
  model_unpriced: {
    ...denied(403)(
      'A budget of the key, its team or its organization counts USD, and the price of the model is not known; the message names the budget. See `prices.yaml`, and `unknown_price` of the plugin `budget`.',
    ),
    ofGateway: true,
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retryable: true,
    help: 'The upstream’s rate limit; `retry-after` says how long.',
  },
  upstream_conflict: { ...invalid(409)('The upstream reports a conflict.'), retryable: true },
  upstream_error: failed(502)('The upstream failed or sent a reply that cannot be read.'),
  overloaded: failed(503)('The upstream is overloaded.'),
  timeout: failed(504)('The upstream itself ran out of time (`DEADLINE_EXCEEDED`).'),
  // Faults on the way
  connection_failed: failed(502)('No connection to the upstream, or it broke before a reply.'),
  tls_failed: failed(502)('The upstream’s certificate or TLS handshake was refused.'),
  egress_refused: failedHereForGood(502)(
    'The egress guard refused the upstream’s address; see `egress` in server.yaml and `allow_insecure` in the catalog entry.',
  ),
  credentials_failed: failed(502)('No token for the catalog entry; the message names the entry and the reason.'),
  upstream_credentials_refused: {
    ...failedForGood(502)(
      'The upstream refused the catalog entry’s own credentials (401, or a 400 that says so, such as Google’s `API_KEY_INVALID`); the message names the entry. Rules on status 401, `auth` and `credentials` apply. The reply carries `x-should-retry: false`.',
    ),
    seenAs: 401,
    final: true,
  },
  pool_exhausted: failedHere(503)(
    'All `connections` to the upstream were in use for as long as a request may wait for one (`timeouts.connect`); nothing was sent. `retry-after` says how long to wait.',
  ),
  sockets_exhausted: failedHere(503)(
    'The gateway’s host has no file descriptor, port or memory for another connection (`EMFILE`, `EADDRNOTAVAIL`, `ENOBUFS`); nothing was sent. `retry-after` says how long to wait.',
  ),
  timeout_connect: failed(504)('`timeouts.connect` passed before a connection was established.'),
  timeout_first_byte: failed(504)('`timeouts.first_byte` passed before the upstream’s first byte.'),
  timeout_first_content: failed(504)('`timeouts.first_content` passed before the first content.'),
  timeout_idle: failed(504)(
    '`timeouts.idle` passed without a byte from the upstream in a running reply; pings and comments count as bytes.',
  ),
  timeout_total: failedForGood(504)('`timeouts.total` (`request_timeout`) passed.'),
  timeout_request: failedForGood(504)('The `deadline` of the request passed, or `limits.plugin_time` of a plugin.'),
  empty_reply: failed(502)('The reply has no text and no call, and `on_errors` lists `empty`.'),
  unwanted_finish: failed(502)('The reply ended with a finish reason that `on_finish_reasons` lists.'),
  stream_interrupted: failed(502)('The upstream’s stream ended before it was complete.'),
  // `ofGateway`: the limits are the gateway's own, so the target's breaker must not count it.
  reply_too_large: failedHereForGood(502)(
    'The upstream’s reply exceeds `limits.reply`, or more than `limits.hold_bytes` of a stream wait for the end of a call.',
  ),
  file_store_failed: failedHere(502)('The folder or the bucket of the stored files failed; the message says how.'),
  store_unavailable: failedHere(503)(
    'The process that keeps responses did not answer in time, or the state store with the key does not answer; nothing was sent.',
  ),
  limit_requests: limited(
    'requests per time (`limits.requests`), or an address those without a valid key (`limits.unauthenticated`)',
  ),
  limit_tokens: limited('tokens per time (`limits.tokens`)'),
  limit_concurrency: limited('requests at the same time (`limits.concurrency`)'),
  busy: failed(503)(
    'The gateway, or the key, has reached its limit of requests in flight, of their bytes, or of kept responses that are being read; the message names the setting where there is one. Nothing was sent.',
  ),
  body_too_slow: failed(503)(
    'The body was still arriving after a second while other requests waited for its place; the message names the setting of `limits`. The connection is closed.',
  ),
  shutting_down: failed(503)('The gateway is stopping, and `drain.timeout` has passed.'),
  client_closed: { ...failedForGood(499)('The client left; nothing was sent. Log and metrics only.') },
  guard_failed: failedHere(503)(
    'The check of a guard failed or ran out of time, and its `on_error` is `deny`; the message names the guard.',
  ),
  reply_withheld: failedHereForGood(502)(
    'A plugin held back more of the reply, or for longer, than its `reads.hold` says, or would have changed thinking that its provider has signed. The rest of the reply is not sent.',
  ),
  plugin_refused: {
    ...invalid(403)(
      'A plugin refused the request with an error of its own. Clients get the code, the status and the type that the plugin declares.',
    ),
    ofGateway: true,
  },
  plugin_call_failed: failedHere(503)(
    'A service that a plugin asks with `host.fetch`, or the state store behind `host.state`, did not answer in time, or cannot be reached; the log says why.',
  ),
  auth_unavailable: failedHere(503)(
    'The service that decides about the caller’s credential (`auth-call`) did not answer in time, or not as its contract says. Nothing was sent.',
  ),
  internal_error: failedForGood(500)('A fault of the gateway; the log has it under the request id.'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;
