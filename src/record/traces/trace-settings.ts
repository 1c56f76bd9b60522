/** `telemetry.traces` of server.yaml. */
export interface TracesYaml {
  readonly endpoint?: string | undefined;
  readonly protocol?: 'http/protobuf' | 'http/json' | undefined;
  readonly service_name?: string | undefined;
}

export interface TraceSettings {
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Full URL; undefined when the OTLP packages read it from `OTEL_EXPORTER_OTLP_*` themselves. */
  readonly endpoint: string | undefined;
  /** `service.name` if neither `OTEL_SERVICE_NAME` nor `OTEL_RESOURCE_ATTRIBUTES` sets one. */
  readonly serviceName: string;
  readonly sampler: { readonly kind: SamplerKind; readonly ratio: number };
  readonly batch: {
    readonly scheduledDelayMillis?: number;
    readonly exportTimeoutMillis?: number;
    readonly maxQueueSize?: number;
    readonly maxExportBatchSize?: number;
  };
  readonly limits: { readonly attributeCountLimit?: number; readonly attributeValueLengthLimit?: number };
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
type SamplerKind = (typeof SAMPLERS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** An invalid variable. The message names it and never shows a value that may contain credentials. */
export class TraceSettingsError extends Error {
  override readonly name = 'TraceSettingsError';
}

/**
 * Reads the trace settings from the environment and server.yaml; undefined when neither enables traces. The environment
 * wins, as operators expect of `OTEL_*`. Read here because version 3 of the tracing SDK leaves sampler, batch and limit
 * variables to `sdk-node`, which would also load metrics, logs and every exporter. Throws TraceSettingsError for
 * unsupported settings: operators would notice missing traces too late.
 */
export function readTraceSettings(env: Environment, yaml: TracesYaml | undefined): TraceSettings | undefined {
  const read = reader(env);
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const exporter = read('OTEL_TRACES_EXPORTER');
  if (exporter === 'none') return undefined;
  if (exporter !== undefined && exporter !== 'otlp') {
    throw new TraceSettingsError(
      `OTEL_TRACES_EXPORTER is ${JSON.stringify(exporter)}; Gatehouse exports otlp or none.`,
    );
  }
  const fromEnv = ENDPOINTS.filter((name) => read(name) !== undefined);
  if (exporter === undefined && fromEnv.length === 0 && yaml === undefined) return undefined;
  for (const name of fromEnv) checkUrl(name, read(name));
  return {
    protocol: readProtocol(read, yaml),
    endpoint: fromEnv.length > 0 ? undefined : yaml?.endpoint,
    serviceName: yaml?.service_name ?? 'gatehouse',
    sampler: readSampler(read),
    batch: readBatch(read),
    limits: readLimits(read),
  };
}

type Read = (name: string) => string | undefined;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** An empty variable is an unset one (OpenTelemetry environment variable specification). */
function reader(env: Environment): Read {
  return (name) => env[name]?.trim() || undefined;
}

/** The packages fall back to localhost for an invalid URL. */
function checkUrl(name: string, value: string | undefined): void {
  const url = value === undefined ? null : URL.parse(value);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new TraceSettingsError(`${name} is not an http or https URL.`);
}

function readProtocol(read: Read, yaml: TracesYaml | undefined): TraceSettings['protocol'] {
  const name = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL')
    ? 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'
    : 'OTEL_EXPORTER_OTLP_PROTOCOL';
  const value = read(name) ?? yaml?.protocol ?? 'http/protobuf';
  if (value === 'http/protobuf' || value === 'http/json') return value;
  throw new TraceSettingsError(
    `${name} is ${JSON.stringify(value)}; Gatehouse supports http/protobuf and http/json. Collectors accept both on port 4318.`,
  );
}

function readSampler(read: Read): TraceSettings['sampler'] {
  const name = read('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const kind = SAMPLERS.find((sampler) => sampler === name);
  if (!kind)
    throw new TraceSettingsError(
      `OTEL_TRACES_SAMPLER is ${JSON.stringify(name)}; it must be one of ${SAMPLERS.join(', ')}.`,
    );
  const ratio = Number(read('OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (kind.endsWith('traceidratio') && !(ratio >= 0 && ratio <= 1)) {
    throw new TraceSettingsError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  }
  return { kind, ratio };
}

function readBatch(read: Read): TraceSettings['batch'] {
  return {
    ...whole(read, 'OTEL_BSP_SCHEDULE_DELAY', 'scheduledDelayMillis'),
    ...whole(read, 'OTEL_BSP_EXPORT_TIMEOUT', 'exportTimeoutMillis'),
    ...whole(read, 'OTEL_BSP_MAX_QUEUE_SIZE', 'maxQueueSize'),
    ...whole(read, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 'maxExportBatchSize'),
  };
}

/** The span's own limits win over the general ones. */
function readLimits(read: Read): TraceSettings['limits'] {
  return {
    ...whole(read, 'OTEL_ATTRIBUTE_COUNT_LIMIT', 'attributeCountLimit'),
    ...whole(read, 'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', 'attributeCountLimit'),
    ...whole(read, 'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', 'attributeValueLengthLimit'),
    ...whole(read, 'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT', 'attributeValueLengthLimit'),
  };
}

function whole(read: Read, name: string, option: string): Readonly<Record<string, number>> {
  const value = read(name);
  if (value === undefined) return {};
  if (!/^\d{1,9}$/.test(value))
    throw new TraceSettingsError(`${name} is ${JSON.stringify(value)}; it must be a whole number.`);
  return { [option]: Number(value) };
}
