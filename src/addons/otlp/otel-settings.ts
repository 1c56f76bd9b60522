import type { Telemetry as TelemetryFile } from '../../../schemas/types.generated.ts';
import { StartFailed } from '../../core/process/start-failed.ts';

const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

type OtelYaml = Pick<TelemetryFile, 'traces' | 'semconv'>;
type TracesYaml = OtelYaml['traces'];

/** Names of the GenAI conventions: the latest, or also those that they replaced. */
export type Semconv = 'latest' | 'both';

export interface SignalSettings {
  readonly protocol: Protocol;
  /** Full URL; undefined when the OTLP packages read it from `OTEL_EXPORTER_OTLP_*` themselves. */
  readonly endpoint: string | undefined;
}

export interface BatchSettings {
  readonly scheduledDelayMillis?: number;
  readonly exportTimeoutMillis?: number;
  readonly maxQueueSize?: number;
  readonly maxExportBatchSize?: number;
}

export interface SamplerSettings {
  readonly root: (typeof ROOT_SAMPLERS)[number];
  readonly ratio: number;
  /** Traces that a caller has begun follow its decision. */
  readonly isParentBased: boolean;
}

export interface TracesSettings extends SignalSettings {
  readonly batch: BatchSettings;
  readonly sampler: SamplerSettings;
  /** Only the SDK does what the environment asks for: limits of attributes, or metrics of the SDK itself. */
  readonly needsSdk: boolean;
}

export interface OtelSettings {
  readonly traces: TracesSettings | undefined;
  readonly metrics:
    | (SignalSettings & { readonly exportIntervalMillis: number; readonly exportTimeoutMillis: number })
    | undefined;
  readonly logs: (SignalSettings & { readonly batch: BatchSettings }) | undefined;
  /** `service.name` if neither `OTEL_SERVICE_NAME` nor `OTEL_RESOURCE_ATTRIBUTES` sets one. */
  readonly serviceName: string;
  readonly semconv: Semconv;
  readonly propagators: readonly Propagator[];
  readonly detectors: readonly Detector[];
}

const SIGNALS = ['traces', 'metrics', 'logs'] as const;
type Signal = (typeof SIGNALS)[number];

const ROOT_SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const PARENT_BASED = 'parentbased_';

const PROPAGATORS = ['tracecontext', 'baggage', 'b3', 'b3multi'] as const;
type Propagator = (typeof PROPAGATORS)[number];

/** Those of clouds ask a metadata server and are not part of Gatehouse, so `all` asks none either. */
const DETECTORS = ['env', 'host', 'os', 'process', 'serviceinstance'] as const;
export type Detector = (typeof DETECTORS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** An invalid variable. The message names it and never shows a value that may contain credentials. */
export class OtelSettingsError extends StartFailed {
  override readonly name = 'OtelSettingsError';
}

/**
 * Reads the settings of OpenTelemetry from the environment and server.yaml; undefined when neither enables a signal. The
 * environment wins, as operators expect of `OTEL_*`. A general endpoint enables all three signals, as in the
 * specification. The SDK reads limits from the environment itself and falls back to a default for a faulty
 * one; operators would notice that too late, so all are checked here. Throws OtelSettingsError.
 */
export function readOtelSettings(env: Environment, yaml: OtelYaml = {}): OtelSettings | undefined {
  const read = reader(env);
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const on = SIGNALS.filter((signal) => isEnabled(signal, read, yaml));
  if (on.length === 0) return undefined;
  if (read('OTEL_CONFIG_FILE') !== undefined)
    throw new OtelSettingsError(
      'OTEL_CONFIG_FILE is set; Gatehouse reads the other OTEL_* variables and no such file.',
    );
  const signal = (name: Signal): SignalSettings | undefined =>
    on.includes(name) ? readSignal(name, read, name === 'traces' ? yaml.traces : undefined) : undefined;
  const [traces, metrics, logs] = [signal('traces'), signal('metrics'), signal('logs')];
  return {
    traces: traces && {
      ...traces,
      batch: readBatch(read, 'BSP'),
      sampler: readSampler(read),
      needsSdk: readNeedsSdk(read),
    },
    metrics: metrics && { ...metrics, ...readExport(read) },
    logs: logs && { ...logs, batch: readBatch(read, 'BLRP') },
    serviceName: yaml.traces?.service_name ?? 'gatehouse',
    semconv: yaml.semconv ?? 'latest',
    propagators: namesIn(read, 'OTEL_PROPAGATORS', PROPAGATORS, ['tracecontext', 'baggage']),
    detectors: readDetectors(read),
  };
}

type Read = (name: string) => string | undefined;

/** An empty variable is an unset one (OpenTelemetry environment variable specification). */
function reader(env: Environment): Read {
  return (name) => env[name]?.trim() || undefined;
}

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const endpointOf = (signal: Signal): string => `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;

function isEnabled(signal: Signal, read: Read, yaml: OtelYaml): boolean {
  const name = `OTEL_${signal.toUpperCase()}_EXPORTER`;
  const exporter = read(name);
  if (exporter === 'none') return false;
  if (exporter !== undefined && exporter !== 'otlp')
    throw new OtelSettingsError(`${name} is ${JSON.stringify(exporter)}; Gatehouse exports otlp or none.`);
  if (exporter !== undefined || read(ENDPOINT) !== undefined || read(endpointOf(signal)) !== undefined) return true;
  return signal === 'traces' && yaml.traces !== undefined;
}

function readSignal(signal: Signal, read: Read, yaml: TracesYaml): SignalSettings {
  const protocol = readProtocol(signal, read, yaml);
  const fromEnv = [endpointOf(signal), ENDPOINT].filter((name) => read(name) !== undefined);
  for (const name of fromEnv) checkUrl(name, read(name), protocol);
  return { protocol, endpoint: fromEnv.length > 0 ? undefined : yaml?.endpoint };
}

/** The packages fall back to localhost for an invalid URL. gRPC addresses may lack a scheme. */
function checkUrl(name: string, value = '', protocol: Protocol): void {
  const url = URL.parse(value);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return;
  if (protocol === 'grpc' && /^[\w.-]+:\d{1,5}$/.test(value)) return;
  throw new OtelSettingsError(`${name} is not an http or https URL.`);
}

function readProtocol(signal: Signal, read: Read, yaml: TracesYaml): Protocol {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_PROTOCOL`;
  const name = read(own) === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : own;
  const value = read(name) ?? yaml?.protocol ?? 'http/protobuf';
  const protocol = PROTOCOLS.find((known) => known === value);
  if (protocol) return protocol;
  throw new OtelSettingsError(`${name} is ${JSON.stringify(value)}; it must be one of ${PROTOCOLS.join(', ')}.`);
}

function readSampler(read: Read): SamplerSettings {
  const name = read('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const isParentBased = name.startsWith(PARENT_BASED);
  const root = ROOT_SAMPLERS.find((known) => known === (isParentBased ? name.slice(PARENT_BASED.length) : name));
  if (!root) {
    const known = ['', PARENT_BASED].flatMap((prefix) => ROOT_SAMPLERS.map((one) => prefix + one));
    throw new OtelSettingsError(
      `OTEL_TRACES_SAMPLER is ${JSON.stringify(name)}; it must be one of ${known.join(', ')}.`,
    );
  }
  const ratio = Number(read('OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (root === 'traceidratio' && !(ratio >= 0 && ratio <= 1))
    throw new OtelSettingsError('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.');
  return { root, ratio, isParentBased };
}

function readNeedsSdk(read: Read): boolean {
  const limits = LIMITS.map((name) => whole(read, name));
  return limits.some((limit) => limit !== undefined) || read('OTEL_NODE_EXPERIMENTAL_SDK_METRICS') === 'true';
}

const LIMITS = [
  'OTEL_ATTRIBUTE_COUNT_LIMIT',
  'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT',
  'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
  'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
];

/** @param processor `BSP` of spans, `BLRP` of log records */
function readBatch(read: Read, processor: 'BSP' | 'BLRP'): BatchSettings {
  const values = {
    scheduledDelayMillis: whole(read, `OTEL_${processor}_SCHEDULE_DELAY`),
    exportTimeoutMillis: whole(read, `OTEL_${processor}_EXPORT_TIMEOUT`),
    maxQueueSize: whole(read, `OTEL_${processor}_MAX_QUEUE_SIZE`),
    maxExportBatchSize: whole(read, `OTEL_${processor}_MAX_EXPORT_BATCH_SIZE`),
  };
  // The SDK takes an undefined option for a value.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The defaults of the specification. The SDK refuses a timeout that is longer than the interval. */
function readExport(read: Read): { readonly exportIntervalMillis: number; readonly exportTimeoutMillis: number } {
  const temporality = read('OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE') ?? 'cumulative';
  if (temporality.toLowerCase() !== 'cumulative')
    throw new OtelSettingsError(
      `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE is ${JSON.stringify(temporality)}; Gatehouse exports cumulative values. A collector can convert them.`,
    );
  const exportIntervalMillis = positive(read, 'OTEL_METRIC_EXPORT_INTERVAL') ?? 60_000;
  const timeout = positive(read, 'OTEL_METRIC_EXPORT_TIMEOUT') ?? 30_000;
  return { exportIntervalMillis, exportTimeoutMillis: Math.min(timeout, exportIntervalMillis) };
}

function readDetectors(read: Read): readonly Detector[] {
  const name = 'OTEL_NODE_RESOURCE_DETECTORS';
  const detectors = read(name) === 'all' ? DETECTORS : namesIn(read, name, DETECTORS, DETECTORS);
  // OTEL_SERVICE_NAME holds whichever detectors are named.
  return detectors.includes('env') ? detectors : ['env', ...detectors];
}

/** A list with commas between; `none` is the empty list. */
function namesIn<T extends string>(read: Read, name: string, known: readonly T[], others: readonly T[]): readonly T[] {
  const value = read(name);
  if (value === undefined) return others;
  if (value === 'none') return [];
  return value.split(',').map((text) => {
    const found = known.find((one) => one === text.trim());
    if (found) return found;
    throw new OtelSettingsError(
      `${name} contains ${JSON.stringify(text.trim())}; Gatehouse has ${known.join(', ')}, and none.`,
    );
  });
}

function positive(read: Read, name: string): number | undefined {
  const value = whole(read, name);
  if (value === 0) throw new OtelSettingsError(`${name} is 0; it must be a positive number of milliseconds.`);
  return value;
}

function whole(read: Read, name: string): number | undefined {
  const value = read(name);
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value))
    throw new OtelSettingsError(`${name} is ${JSON.stringify(value)}; it must be a whole number.`);
  return Number(value);
}
