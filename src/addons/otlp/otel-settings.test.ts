import { describe, expect, it } from 'vitest';
import { readOtelSettings } from './otel-settings.ts';

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const exporter = { protocol: 'http/protobuf', endpoint: undefined };
const sampler = { root: 'always_on', ratio: 1, isParentBased: true };
const traces = { ...exporter, batch: {}, sampler, needsSdk: false };
const defaults = {
  traces,
  metrics: { ...exporter, exportIntervalMillis: 60_000, exportTimeoutMillis: 30_000 },
  logs: { ...exporter, batch: {} },
  serviceName: 'gatehouse',
  semconv: 'latest',
  propagators: ['tracecontext', 'baggage'],
  detectors: ['env', 'host', 'os', 'process', 'serviceinstance'],
};
const without = (...signals: readonly ('traces' | 'metrics' | 'logs')[]) =>
  Object.fromEntries(signals.map((signal) => [signal, undefined]));

describe('the enabled signals', () => {
  it.each([
    ['are none without a setting', {}, undefined, ''],
    ['are none with an empty variable', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, undefined, ''],
    ['are all with an endpoint', COLLECTOR, undefined, 'traces metrics logs'],
    ['are one with its endpoint', { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://127.0.0.1:4318/x' }, undefined, 'logs'],
    ['are one with its exporter', { OTEL_METRICS_EXPORTER: 'otlp' }, undefined, 'metrics'],
    ['are traces with server.yaml', {}, { traces: {} }, 'traces'],
    ['are not switched on by other keys of server.yaml', {}, { semconv: 'both' }, ''],
    ['are not switched on by a service name', { OTEL_SERVICE_NAME: 'x' }, undefined, ''],
    ['are none where the SDK is disabled', { ...COLLECTOR, OTEL_SDK_DISABLED: 'TRUE' }, { traces: {} }, ''],
    [
      'lack those with the exporter none',
      { ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' },
      { traces: {} },
      'metrics',
    ],
  ] as const)('%s', (_, env, yaml, wanted) => {
    const settings = readOtelSettings(env, yaml);
    expect((['traces', 'metrics', 'logs'] as const).filter((signal) => settings?.[signal]).join(' ')).toBe(wanted);
  });
});

describe('the settings of OpenTelemetry', () => {
  it.each([
    ['are defaults', COLLECTOR, undefined, {}],
    [
      'come from server.yaml',
      {},
      {
        traces: { endpoint: 'http://c/v1/traces', protocol: 'grpc', service_name: 'edge' },
        semconv: 'both',
      },
      {
        ...without('metrics', 'logs'),
        traces: { ...traces, protocol: 'grpc', endpoint: 'http://c/v1/traces' },
        serviceName: 'edge',
        semconv: 'both',
      },
    ],
    [
      'let the environment win',
      { ...COLLECTOR, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
      { traces: { endpoint: 'http://c', protocol: 'http/json' } },
      {},
    ],
    [
      'prefer the variable of the signal to the general one',
      { ...COLLECTOR, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      undefined,
      {
        traces: { ...traces, protocol: 'http/json' },
        metrics: { ...defaults.metrics, protocol: 'grpc' },
        logs: { ...defaults.logs, protocol: 'grpc' },
      },
    ],
    [
      'have a sampler',
      { ...COLLECTOR, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      undefined,
      { traces: { ...traces, sampler: { root: 'traceidratio', ratio: 0.25, isParentBased: false } } },
    ],
    [
      'need the SDK for limits of attributes',
      { ...COLLECTOR, OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100' },
      undefined,
      { traces: { ...traces, needsSdk: true } },
    ],
    [
      'have batches',
      {
        ...COLLECTOR,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_BSP_EXPORT_TIMEOUT: '200',
        OTEL_BSP_MAX_QUEUE_SIZE: '300',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '30',
        OTEL_BLRP_SCHEDULE_DELAY: '7',
      },
      undefined,
      {
        traces: {
          ...traces,
          batch: { scheduledDelayMillis: 100, exportTimeoutMillis: 200, maxQueueSize: 300, maxExportBatchSize: 30 },
        },
        logs: { ...exporter, batch: { scheduledDelayMillis: 7 } },
      },
    ],
    [
      'have an interval that is no shorter than its timeout',
      { ...COLLECTOR, OTEL_METRIC_EXPORT_INTERVAL: '1000' },
      undefined,
      { metrics: { ...exporter, exportIntervalMillis: 1000, exportTimeoutMillis: 1000 } },
    ],
    [
      'have propagators',
      { ...COLLECTOR, OTEL_PROPAGATORS: 'b3, tracecontext' },
      undefined,
      { propagators: ['b3', 'tracecontext'] },
    ],
    ['have no propagators', { ...COLLECTOR, OTEL_PROPAGATORS: 'none' }, undefined, { propagators: [] }],
    [
      'have detectors, always that of the environment',
      { ...COLLECTOR, OTEL_NODE_RESOURCE_DETECTORS: 'host' },
      undefined,
      { detectors: ['env', 'host'] },
    ],
    [
      'have a gRPC address without a scheme',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      undefined,
      {
        traces: { ...defaults.traces, protocol: 'grpc' },
        metrics: { ...defaults.metrics, protocol: 'grpc' },
        logs: { ...defaults.logs, protocol: 'grpc' },
      },
    ],
  ] as const)('%s', (_, env, yaml, expected) => {
    expect(readOtelSettings(env, yaml)).toEqual({ ...defaults, ...expected });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/xml' }, 'OTEL_EXPORTER_OTLP_PROTOCOL is "http/xml"; it must be one of'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is "zipkin"; Gatehouse exports otlp or none'],
    [{ OTEL_LOGS_EXPORTER: 'console' }, 'OTEL_LOGS_EXPORTER is "console"; Gatehouse exports otlp or none'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:canary@collector' },
      'OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL',
    ],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER is "jaeger_remote"; it must be one of always_on,'],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1',
    ],
    [{ OTEL_BSP_SCHEDULE_DELAY: '5s' }, 'OTEL_BSP_SCHEDULE_DELAY is "5s"; it must be a whole number'],
    [{ OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '-1' }, 'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT is "-1"; it must be a whole number'],
    [{ OTEL_METRIC_EXPORT_INTERVAL: '0' }, 'OTEL_METRIC_EXPORT_INTERVAL is 0; it must be a positive number'],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta' }, 'Gatehouse exports cumulative values'],
    [{ OTEL_PROPAGATORS: 'tracecontext,jaeger' }, 'OTEL_PROPAGATORS contains "jaeger"; Gatehouse has tracecontext,'],
    [{ OTEL_NODE_RESOURCE_DETECTORS: 'env,gcp' }, 'OTEL_NODE_RESOURCE_DETECTORS contains "gcp"; Gatehouse has env,'],
    [{ OTEL_CONFIG_FILE: '/etc/otel.yaml' }, 'OTEL_CONFIG_FILE is set; Gatehouse reads the other OTEL_* variables'],
  ])('refuse %j', (env, message) => {
    const read = () => readOtelSettings({ ...COLLECTOR, ...env });
    expect(read).toThrow(message);
    expect(read).not.toThrow('canary');
  });
});
