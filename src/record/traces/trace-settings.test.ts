import { describe, expect, it } from 'vitest';
import { readTraceSettings } from './trace-settings.ts';

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
const defaults = {
  protocol: 'http/protobuf',
  endpoint: undefined,
  serviceName: 'gatehouse',
  sampler: { kind: 'parentbased_always_on', ratio: 1 },
  batch: {},
  limits: {},
};

describe('whether traces are enabled', () => {
  it.each([
    ['no setting enables them', {}, undefined, false],
    ['an empty variable is unset', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, undefined, false],
    ['an endpoint enables traces', COLLECTOR, undefined, true],
    [
      'a traces endpoint enables traces',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/x' },
      undefined,
      true,
    ],
    ['the exporter alone enables traces', { OTEL_TRACES_EXPORTER: 'otlp' }, undefined, true],
    ['server.yaml enables traces', {}, {}, true],
    ['a service name alone does not', { OTEL_SERVICE_NAME: 'x' }, undefined, false],
    ['disabled wins over all', { ...COLLECTOR, OTEL_SDK_DISABLED: 'TRUE' }, {}, false],
    ['the exporter none wins over server.yaml', { ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none' }, {}, false],
  ])('%s', (_, env, yaml, wanted) => {
    expect(readTraceSettings(env, yaml) !== undefined).toBe(wanted);
  });
});

describe('the trace settings', () => {
  it.each([
    ['are defaults', COLLECTOR, undefined, {}],
    [
      'come from server.yaml',
      {},
      { endpoint: 'http://c/v1/traces', protocol: 'http/json', service_name: 'edge' },
      { endpoint: 'http://c/v1/traces', protocol: 'http/json', serviceName: 'edge' },
    ],
    [
      'let the environment win',
      { ...COLLECTOR, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
      { endpoint: 'http://c', protocol: 'http/json' },
      {},
    ],
    [
      'prefer the variable of the signal to the general one',
      { ...COLLECTOR, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      undefined,
      { protocol: 'http/json' },
    ],
    [
      'have a sampler',
      { ...COLLECTOR, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      undefined,
      { sampler: { kind: 'parentbased_traceidratio', ratio: 0.25 } },
    ],
    [
      'have batches',
      {
        ...COLLECTOR,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_BSP_EXPORT_TIMEOUT: '200',
        OTEL_BSP_MAX_QUEUE_SIZE: '300',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '30',
      },
      undefined,
      { batch: { scheduledDelayMillis: 100, exportTimeoutMillis: 200, maxQueueSize: 300, maxExportBatchSize: 30 } },
    ],
    [
      'have limits, the more specific one winning',
      {
        ...COLLECTOR,
        OTEL_ATTRIBUTE_COUNT_LIMIT: '10',
        OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '20',
        OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '99',
      },
      undefined,
      { limits: { attributeCountLimit: 20, attributeValueLengthLimit: 99 } },
    ],
  ] as const)('%s', (_, env, yaml, expected) => {
    expect(readTraceSettings(env, yaml)).toEqual({ ...defaults, ...expected });
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; Gatehouse supports http/protobuf and http/json',
    ],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is "zipkin"; Gatehouse exports otlp or none'],
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
  ])('refuse %j', (env, message) => {
    expect(() => readTraceSettings({ ...COLLECTOR, ...env }, undefined)).toThrow(message);
    expect(() => readTraceSettings({ ...COLLECTOR, ...env }, undefined)).not.toThrow('canary');
  });
});
