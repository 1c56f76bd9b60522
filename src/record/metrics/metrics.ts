/**
 * Every metric of the gateway, in one table. Rules (checked by metrics.test.ts): prefix, base units in the name,
 * `_total` on counters only, always the same labels (`''` for an unknown value), no label that a client can write
 * freely.
 *
 * Labels `provider` (catalog slug), `request_model` (see catalog/model-labels.ts) and `operation` belong together.
 */
export interface MetricSpec {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /**
   * How the values of several processes are merged; default: sum. `primary`: only the primary's value, because every
   * worker has the same.
   */
  readonly aggregator?: 'first' | 'min' | 'max' | 'primary';
}

/** Rounds fractions to the exact decimal (0.01 · 2 ** 3 is 0.08); integers are exact. */
const powers = (count: number, base: number, first: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Number((first * base ** index).toPrecision(12)));

/** 10 ms to 655 s: OpenTelemetry's 14 bounds for generation and three more, because models may think for minutes. */
const DURATION_BUCKETS = powers(17, 2, 0.01);
const OVERHEAD_BUCKETS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
/** OpenTelemetry's bounds of gen_ai.server.time_per_output_token, and two smaller ones for faster models. */
const PER_TOKEN_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
/** OpenTelemetry's bounds of token counts, up to the million that long contexts reach. */
const TOKEN_BUCKETS = powers(11, 4, 1);
/** 256 B to 64 MiB: the default `limits.body` is 48 MiB. */
const BYTE_BUCKETS = powers(10, 4, 256);

const MODEL_LABELS = ['provider', 'request_model', 'operation'] as const;

export const METRICS = {
  buildInfo: {
    type: 'gauge',
    name: 'gatehouse_build_info',
    help: 'Version of the running gateway; always 1.',
    labels: ['version', 'node_version', 'revision'],
    aggregator: 'first',
  },
  configInfo: {
    type: 'gauge',
    name: 'gatehouse_config_info',
    help: 'Hash of the settings that serve new requests; always 1. Two hashes at once in a fleet mean a rollout or a drift.',
    labels: ['config_hash'],
    aggregator: 'first',
  },
  configReloadSuccessful: {
    type: 'gauge',
    name: 'gatehouse_config_last_reload_successful',
    help: '1 when the last load of the settings succeeded, 0 when it failed and the previous settings are still in use.',
    labels: [],
    aggregator: 'min',
  },
  configReloadSuccessTime: {
    type: 'gauge',
    name: 'gatehouse_config_last_reload_success_timestamp_seconds',
    help: 'Time of the last successful load of settings, in seconds since 1970.',
    labels: [],
    aggregator: 'min',
  },
  configReloads: {
    type: 'counter',
    name: 'gatehouse_config_reloads_total',
    help: 'Loads of the settings, including the one at start, by result: success, failure.',
    labels: ['result'],
    aggregator: 'primary',
  },
  workers: {
    type: 'gauge',
    name: 'gatehouse_workers',
    help: 'Worker processes that serve requests. Only with --workers.',
    labels: [],
    aggregator: 'primary',
  },
  workerExits: {
    type: 'counter',
    name: 'gatehouse_worker_exits_total',
    help: 'Worker processes that ended unexpectedly, by reason: code (an error in it), signal (killed by the system, for example out of memory, or by the primary; see gatehouse_worker_kills_total). Only with --workers.',
    labels: ['reason'],
    aggregator: 'primary',
  },
  workersKilled: {
    type: 'counter',
    name: 'gatehouse_worker_kills_total',
    help: 'Worker processes that the primary killed, by reason: blocked (its event loop did not run for 10 s), drain (it did not end in time), start (it did not begin to serve). Only with --workers.',
    labels: ['reason'],
    aggregator: 'primary',
  },
  workerRequestsCut: {
    type: 'counter',
    name: 'gatehouse_worker_requests_cut_total',
    help: 'Requests in flight in workers that were killed or crashed, as each worker last reported, up to 250 ms before its end. No other metric counts these requests. Only with --workers.',
    labels: [],
    aggregator: 'primary',
  },
  workerConnectionsCut: {
    type: 'counter',
    name: 'gatehouse_worker_connections_cut_total',
    help: 'Connections of clients that closed with workers that were killed or crashed, including idle ones, with the same accuracy as gatehouse_worker_requests_cut_total. Only with --workers.',
    labels: [],
    aggregator: 'primary',
  },
  pluginFailures: {
    type: 'counter',
    name: 'gatehouse_plugin_failures_total',
    help: 'Faults of external plugins, by the name of the plugin in the settings and kind: timeout (limits.plugin_time or the deadline passed), error (it threw), stream (its wrapper of a reply threw), listener (its listener of onEnd or onCancel threw), rejection (an unhandled rejection).',
    labels: ['plugin', 'kind'],
  },
  requests: {
    type: 'counter',
    name: 'gatehouse_requests_total',
    help: 'Requests whose reply has ended. status_class is the outcome: a stream that failed after its 200 counts as its error, a client that disconnected as 4xx (499). cache: result of the cache for the attempt that answered, as in gatehouse_cache_requests_total; empty without a cache.',
    labels: ['route', 'status_class', 'stream', 'cache'],
  },
  requestDuration: {
    type: 'histogram',
    name: 'gatehouse_request_duration_seconds',
    help: 'From the arrival of a request until the end of its reply.',
    labels: ['route', 'status_class', 'stream'],
    buckets: DURATION_BUCKETS,
  },
  requestsInFlight: {
    type: 'gauge',
    name: 'gatehouse_requests_in_flight',
    help: 'Requests whose reply has not ended.',
    labels: ['route'],
  },
  draining: {
    type: 'gauge',
    name: 'gatehouse_draining',
    help: '1 from SIGTERM on: /readyz fails, and requests in flight have time to end.',
    labels: [],
    aggregator: 'max',
  },
  requestOverhead: {
    type: 'histogram',
    name: 'gatehouse_request_overhead_seconds',
    help: 'Duration of a request without the time spent waiting for upstreams, which includes backoff between tries. Not recorded for clients that disconnected.',
    labels: ['route'],
    buckets: OVERHEAD_BUCKETS,
  },
  requestBodyBytes: {
    type: 'histogram',
    name: 'gatehouse_request_body_bytes',
    help: 'Size of request bodies that were read whole.',
    labels: ['route'],
    buckets: BYTE_BUCKETS,
  },
  responseBodyBytes: {
    type: 'histogram',
    name: 'gatehouse_response_body_bytes',
    help: 'Bytes of reply bodies that were sent.',
    labels: ['route'],
    buckets: BYTE_BUCKETS,
  },
  requestsRejected: {
    type: 'counter',
    name: 'gatehouse_requests_rejected_total',
    help: 'Requests that the gateway rejected before any upstream was tried, by reason: auth, forbidden, schema, body_too_large, routing, not_found, overload.',
    labels: ['route', 'reason'],
  },
  limitRefusals: {
    type: 'counter',
    name: 'gatehouse_limit_refusals_total',
    help: 'Requests beyond a limit of load, by the setting of limits: in_flight, in_flight_per_key, in_flight_bytes, in_flight_bytes_per_key, large_bodies. action: refused, or dropped (its body was still arriving after a second, and others needed its room).',
    labels: ['limit', 'action'],
  },
  largeBodiesWaiting: {
    type: 'gauge',
    name: 'gatehouse_large_bodies_waiting',
    help: 'Steps (reading, checking, translation) of bodies over 1 MB that currently wait for their turn. limits.large_bodies bounds them.',
    labels: [],
  },
  largeBodyWait: {
    type: 'histogram',
    name: 'gatehouse_large_body_wait_seconds',
    help: 'Waiting time of steps (reading, checking, translation) of bodies over 1 MB, whatever their outcome. Steps that began at once are not counted.',
    labels: [],
    buckets: DURATION_BUCKETS,
  },
  clientDisconnects: {
    type: 'counter',
    name: 'gatehouse_client_disconnects_total',
    help: 'Clients that disconnected before their reply had ended, by stage: queued (no upstream tried yet), waiting (nothing sent yet), streaming.',
    labels: ['route', 'stage'],
  },
  upstreamAttempts: {
    type: 'counter',
    name: 'gatehouse_upstream_attempts_total',
    help: 'Attempts at a target, each including its retries, by outcome: success, error, aborted (the client disconnected, or the gateway ended it: its drain, a client that did not read). error_type is empty on success.',
    labels: [...MODEL_LABELS, 'outcome', 'error_type'],
  },
  upstreamDuration: {
    type: 'histogram',
    name: 'gatehouse_upstream_request_duration_seconds',
    help: 'From the start of one physical try until the end of its reply.',
    labels: [...MODEL_LABELS, 'outcome'],
    buckets: DURATION_BUCKETS,
  },
  upstreamFirstChunk: {
    type: 'histogram',
    name: 'gatehouse_upstream_time_to_first_chunk_seconds',
    help: 'Streams: from the start of the try that answered until its first content. Pings do not count.',
    labels: MODEL_LABELS,
    buckets: DURATION_BUCKETS,
  },
  upstreamPerToken: {
    type: 'histogram',
    name: 'gatehouse_upstream_time_per_output_token_seconds',
    help: 'Streams that completed: time from first content to the end, divided by output tokens after the first. One sample per request.',
    labels: MODEL_LABELS,
    buckets: PER_TOKEN_BUCKETS,
  },
  poolWait: {
    type: 'histogram',
    name: 'gatehouse_upstream_pool_wait_seconds',
    help: 'Time that attempts waited for a free connection to their upstream because all `connections` were in use, whatever the outcome. Attempts that got one at once are not observed.',
    labels: ['provider'],
    buckets: DURATION_BUCKETS,
  },
  poolWaiting: {
    type: 'gauge',
    name: 'gatehouse_upstream_pool_waiting',
    help: 'Requests that currently wait because all `connections` to their upstream are in use.',
    labels: [],
  },
  upstreamRetries: {
    type: 'counter',
    name: 'gatehouse_upstream_retries_total',
    help: 'Tries after the first of an attempt, by the error_type that caused them; stale_connection: sent again because a kept-alive connection had died.',
    labels: ['provider', 'reason'],
  },
  fallbacks: {
    type: 'counter',
    name: 'gatehouse_fallbacks_total',
    help: 'Attempts that followed a failed one, by catalog slug of both and the error_type of the failure.',
    labels: ['from_target', 'to_target', 'reason'],
  },
  targetHealthy: {
    type: 'gauge',
    name: 'gatehouse_upstream_target_healthy',
    help: 'Targets of gateway configs by their path: 0 from when one fails too often (circuit_breaker, or its defaults) until it answers again, else 1. provider: as in the config, without @; empty when the request names it.',
    labels: ['config', 'target', 'provider'],
    aggregator: 'min',
  },
  breakerTransitions: {
    type: 'counter',
    name: 'gatehouse_circuit_breaker_transitions_total',
    help: 'Circuit breakers of gateway configs that became open, half_open (a request was sent to probe the target) or closed.',
    labels: ['config', 'target', 'to'],
  },
  tokens: {
    type: 'counter',
    name: 'gatehouse_tokens_total',
    help: 'Tokens of the attempts that answered, as their upstreams report them; of an interrupted reply, those reported until then. Failed attempts count none. input includes cache_read and cache_write, output includes reasoning: do not add those three.',
    labels: [...MODEL_LABELS, 'type'],
  },
  requestTokens: {
    type: 'histogram',
    name: 'gatehouse_request_tokens',
    help: 'Tokens of one generation whose reply was sent, by type: input, output.',
    labels: [...MODEL_LABELS, 'type'],
    buckets: TOKEN_BUCKETS,
  },
  paramsLost: {
    type: 'counter',
    name: 'gatehouse_params_lost_total',
    help: 'Parts of requests that a target cannot express, by top-level field, and parts of replies that the API of the client cannot express (`reply.audio`, …), by action: dropped, clamped, downgraded.',
    labels: ['provider', 'param', 'action'],
  },
  cacheRequests: {
    type: 'counter',
    name: 'gatehouse_cache_requests_total',
    help: 'Attempts at targets with a cache, by result: hit, shared (waited for an identical request in flight), miss, refresh (the caller forced a new reply), bypass (the request cannot be answered from a cache).',
    labels: ['mode', 'result'],
  },
  cacheEntries: {
    type: 'gauge',
    name: 'gatehouse_cache_entries',
    help: 'Replies in the cache, including expired ones that were not looked up since.',
    labels: [],
  },
  cacheSize: {
    type: 'gauge',
    name: 'gatehouse_cache_size_bytes',
    help: 'Memory that the cache counts for its replies; cache.max_bytes bounds it.',
    labels: [],
  },
  cacheEvictions: {
    type: 'counter',
    name: 'gatehouse_cache_evictions_total',
    help: 'Unexpired replies that were evicted to make room for others.',
    labels: [],
  },
  tokenRefreshes: {
    type: 'counter',
    name: 'gatehouse_oauth_token_refreshes_total',
    help: 'Exchanges of credentials for an access token, by result: success, failure.',
    labels: ['provider', 'result'],
  },
  logLinesDropped: {
    type: 'counter',
    name: 'gatehouse_log_lines_dropped_total',
    help: 'Lines of the log that could not be written, by reason: no_space (the disk is full), stalled (standard output is not read, and 1 MiB of lines waits), closed (its reader has closed it), error. Requests are still served.',
    labels: ['reason'],
  },
  labelOverflow: {
    type: 'counter',
    name: 'gatehouse_metric_label_overflow_total',
    help: 'Values recorded under __other__ (gauges: not recorded) because the metric has its maximum number of label sets.',
    labels: ['metric'],
  },
} as const satisfies Record<string, MetricSpec>;

export type MetricKey = keyof typeof METRICS;
