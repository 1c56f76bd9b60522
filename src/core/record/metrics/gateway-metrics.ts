import { ERROR_LABELS, LIMIT_REFUSALS } from '../error-types.ts';
import {
  BYTE_BUCKETS,
  DURATION_BUCKETS,
  DURATION_OF_PLUGINS,
  each,
  OVERHEAD_BUCKETS,
  UNMATCHED_ROUTE,
  metric,
  type RequestSeries,
} from './metric-spec.ts';

const routeOf = ({ route }: RequestSeries) => ({ route: route ?? UNMATCHED_ROUTE });

const outcomeOf = (request: RequestSeries) => ({
  ...routeOf(request),
  status_class: `${Math.trunc(request.outcomeStatus / 100)}xx`,
  stream: String(request.stream),
});

export const GATEWAY_METRICS = {
  buildInfo: metric({
    name: 'gatehouse_build_info',
    help: 'Version of the running gateway; always 1.',
    labels: ['version', 'node_version', 'revision'],
    aggregator: 'first',
  }),
  configInfo: metric({
    name: 'gatehouse_config_info',
    help: 'Hash of the settings that serve new requests; always 1. Two hashes at once in a fleet mean a rollout or a drift.',
    labels: ['config_hash'],
    aggregator: 'first',
  }),
  configReloadSuccessful: metric({
    name: 'gatehouse_config_last_reload_successful',
    help: '1 when the last load of the settings succeeded, 0 when it failed and the previous settings are still in use.',
    aggregator: 'min',
  }),
  configReloadSuccessTime: metric({
    name: 'gatehouse_config_last_reload_success_timestamp_seconds',
    help: 'Time of the last successful load of settings, in seconds since 1970.',
    aggregator: 'min',
  }),
  configReloads: metric({
    name: 'gatehouse_config_reloads_total',
    help: 'Loads of the settings, including the one at start, by result: success, failure.',
    labels: ['result'],
    zero: each('result', ['success', 'failure']),
    aggregator: 'primary',
  }),
  tlsExpiry: metric({
    name: 'gatehouse_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of a listener expires, in seconds since 1970, by listener: data, admin. Only with `tls`.',
    labels: ['listener'],
    aggregator: 'min',
  }),
  tlsHandshakesFailed: metric({
    name: 'gatehouse_tls_handshake_failures_total',
    help: 'Connections that ended before their TLS handshake did, by reason: timeout (limits.header_time), full (as many under way as limits.in_flight), closed (the client left), refused (no common version or protocol, or no TLS at all). A client without a certificate is not among them: it gets a 401.',
    labels: ['reason'],
    zero: each('reason', ['timeout', 'full', 'closed', 'refused']),
  }),
  pluginFailures: metric({
    name: 'gatehouse_plugin_failures_total',
    help: 'Faults of external plugins, by the name of the plugin in the settings and kind: timeout (limits.plugin_time or the deadline passed), error (it threw), stream (its wrapper of a reply threw), listener (its listener of onEnd or onCancel threw), rejection (an unhandled rejection), blocked (more than 50 ms of its own without a pause).',
    labels: ['plugin', 'kind'],
  }),
  pluginDuration: metric({
    name: 'gatehouse_plugin_duration_seconds',
    help: 'Own time of each plugin, without that of the plugins after it, by the name in the settings. telemetry.metrics.plugins chooses the plugins; external ones by default. Waiting counts: send has the time of its upstream.',
    labels: ['plugin'],
    buckets: DURATION_OF_PLUGINS,
  }),
  pluginCalls: metric({
    name: 'gatehouse_plugin_call_duration_seconds',
    help: 'Requests of plugins to services of the operator (`host.fetch`), by the name in the settings and outcome: the class of the status (2xx), or the code of the error.',
    labels: ['plugin', 'outcome'],
    buckets: DURATION_BUCKETS,
  }),
  pluginErrors: metric({
    name: 'gatehouse_plugin_errors_total',
    help: 'Errors that a plugin of gatehouse_plugin_duration_seconds threw itself, refusals among them, by the code that the client gets.',
    labels: ['plugin', 'code'],
  }),
  requests: metric({
    name: 'gatehouse_requests_total',
    help: 'Requests whose reply has ended. status_class is the outcome: a stream that failed after its 200 counts as its error, a client that disconnected as 4xx (499). cache: result of the cache for the attempt that answered, as in gatehouse_cache_requests_total; empty without a cache.',
    labels: ['route', 'status_class', 'stream', 'cache'],
    byCaller: true,
    ofRequest: { labels: (request) => ({ ...outcomeOf(request), cache: request.cache ?? '' }), counts: 'state' },
  }),
  requestErrors: metric({
    name: 'gatehouse_request_errors_total',
    help: 'Requests that ended with an error, by its code: rejections of the gateway, failures of targets, and clients that disconnected (client_closed).',
    labels: ['code'],
    zero: each('code', Object.keys(ERROR_LABELS)),
    ofRequest: {
      labels: ({ errorCode }) => ({ code: errorCode ?? '' }),
      counts: 'errorCode',
    },
  }),
  requestDuration: metric({
    name: 'gatehouse_request_duration_seconds',
    help: 'From the arrival of a request until the end of its reply.',
    labels: ['route', 'status_class', 'stream'],
    buckets: DURATION_BUCKETS,
    exemplars: true,
    ofRequest: { labels: outcomeOf, value: ({ durationMs }) => durationMs / 1000 },
  }),
  requestsInFlight: metric({
    name: 'gatehouse_requests_in_flight',
    help: 'Requests whose reply has not ended.',
    labels: ['route'],
  }),
  draining: metric({
    name: 'gatehouse_draining',
    help: '1 from SIGTERM on: /readyz fails, and requests in flight have time to end.',
    zero: [{}],
    aggregator: 'max',
  }),
  requestOverhead: metric({
    name: 'gatehouse_request_overhead_seconds',
    help: 'Duration of a request without the time spent waiting for upstreams, which includes backoff between tries. Not recorded for clients that disconnected.',
    labels: ['route'],
    buckets: OVERHEAD_BUCKETS,
    ofRequest: {
      labels: routeOf,
      value: ({ disconnectStage, overheadMs }) => (disconnectStage ? undefined : overheadMs / 1000),
    },
  }),
  requestBodyBytes: metric({
    name: 'gatehouse_request_body_bytes',
    help: 'Size of request bodies that were read whole.',
    labels: ['route'],
    buckets: BYTE_BUCKETS,
    ofRequest: { labels: routeOf, value: ({ bytesIn }) => (bytesIn > 0 ? bytesIn : undefined) },
  }),
  responseBodyBytes: metric({
    name: 'gatehouse_response_body_bytes',
    help: 'Bytes of reply bodies that were sent.',
    labels: ['route'],
    buckets: BYTE_BUCKETS,
    ofRequest: { labels: routeOf, value: 'bytesOut' },
  }),
  requestsRejected: metric({
    name: 'gatehouse_requests_rejected_total',
    help: 'Requests that the gateway rejected before any upstream was tried, by reason: auth, forbidden, schema, body_too_large, routing, not_found, overload, rate_limit, budget.',
    labels: ['route', 'reason'],
    byCaller: true,
    ofRequest: {
      labels: (request) => ({ ...routeOf(request), reason: request.rejection ?? '' }),
      counts: 'rejection',
    },
  }),
  limitRefusals: metric({
    name: 'gatehouse_limit_refusals_total',
    help: 'Requests beyond a limit of load, by the setting of limits: in_flight, in_flight_per_key, in_flight_bytes, in_flight_bytes_per_key, large_bodies. action: refused, or dropped (its body was still arriving after a second, and others needed its room).',
    labels: ['limit', 'action'],
    zero: LIMIT_REFUSALS,
  }),
  largeBodiesWaiting: metric({
    name: 'gatehouse_large_bodies_waiting',
    help: 'Steps (reading, checking, translation) of bodies over 1 MB that currently wait for their turn. limits.large_bodies bounds them.',
    zero: [{}],
  }),
  largeBodyWait: metric({
    name: 'gatehouse_large_body_wait_seconds',
    help: 'Waiting time of steps (reading, checking, translation) of bodies over 1 MB, whatever their outcome. Steps that began at once are not counted.',
    zero: [{}],
    buckets: DURATION_BUCKETS,
  }),
  clientDisconnects: metric({
    name: 'gatehouse_client_disconnects_total',
    help: 'Clients that disconnected before their reply had ended, by stage: queued (no upstream tried yet), waiting (nothing sent yet), streaming.',
    labels: ['route', 'stage'],
    ofRequest: {
      labels: (request) => ({ ...routeOf(request), stage: request.disconnectStage ?? '' }),
      counts: 'disconnectStage',
    },
  }),
};
