import type { Telemetry, TelemetryOptions } from '../../core/record/telemetry.ts';
import {
  context,
  defaultTextMapGetter,
  diag,
  DiagLogLevel,
  logs,
  metrics,
  propagation,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import type { Resource, ResourceDetector } from '@opentelemetry/resources';
import type { LogRecordProcessor } from '@opentelemetry/sdk-logs';
import type { IMetricReader } from '@opentelemetry/sdk-metrics';
import type { Logger } from 'pino';
import { systemClock } from '../../core/kernel/system-clock.ts';
import { w3cParent, type ParentOf } from './spans/request-spans.ts';
import { openLogExporter, openMetricExporter } from './exporters.ts';
import { createLineEmitter } from './log-lines.ts';
import { FamilyProducer } from './metric-producer.ts';
import { openSpans } from './open-spans.ts';
import type { Detector, OtelSettings } from './otel-settings.ts';
import { SemconvMetrics } from './semconv-metrics.ts';

/** The exporters retry an unavailable collector for 10 s; the end of the process waits less. */
const SHUTDOWN_MS = 3_000;

const SCOPE = 'gatehouse';

/**
 * OpenTelemetry by its SDK for Node. The SDK reads sampler and limits from `process.env`, and the OTLP packages their own
 * variables. No instrumentation is registered: the record of a request is the only source.
 */
export async function openOtel(options: TelemetryOptions, settings: OtelSettings): Promise<Telemetry> {
  const { log, version, shutdownMs = SHUTDOWN_MS } = options;
  const [{ NodeSDK }, resources] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/resources'),
  ]);
  forwardDiagnostics(log, options.env['OTEL_LOG_LEVEL']);
  const semconv = settings.metrics && new SemconvMetrics(settings.semconv);
  const resource = resourceOf(resources, options, settings);
  const [spans, reader, lines] = await Promise.all([
    settings.traces && openSpans(settings.traces, { resource, name: SCOPE, version }),
    openReader(options, settings, semconv),
    openLines(settings),
  ]);
  checkResourceAttributes(options, resources.resourceAttributesEnvDetector);
  const sdk = new NodeSDK({
    resource,
    autoDetectResources: false,
    ...(spans && { sampler: spans.sampler }),
    spanProcessors: spans?.processor ? [spans.processor] : [],
    metricReaders: reader ? [reader] : [],
    logRecordProcessors: lines ? [lines] : [],
  });
  // The constructor replaces it by one that writes to the console if OTEL_LOG_LEVEL is set.
  forwardDiagnostics(log, options.env['OTEL_LOG_LEVEL']);
  sdk.start();
  const spanOptions = { parentOf: parentReader(settings.propagators), semconv: settings.semconv };
  const parts = [spans, reader, lines].filter((part) => part !== undefined);
  return {
    openSpan: spans?.opener(spanOptions),
    countRequest: semconv && ((record) => semconv.count(record)),
    writeLine: lines && createLineEmitter(logs.getLogger(SCOPE, version)),
    async flush() {
      await Promise.all(parts.map((part) => part.forceFlush())).catch(reportTo(log));
    },
    async shutdown() {
      await within(shutdownMs, Promise.all([spans?.shutdown(), sdk.shutdown()])).catch(reportTo(log));
      // Another gateway of this process, as in tests, registers its own.
      for (const api of [trace, metrics, logs, propagation, context]) api.disable();
    },
  };
}

function resourceOf(
  resources: typeof import('@opentelemetry/resources'),
  { version }: TelemetryOptions,
  { serviceName, detectors }: OtelSettings,
): Resource {
  const own = resources.resourceFromAttributes({ 'service.name': serviceName, 'service.version': version });
  const detected = resources.detectResources({ detectors: detectors.map((name) => detectorOf(resources, name)) });
  return resources.defaultResource().merge(own).merge(detected);
}

async function openReader(
  { version, metrics: own, clock = systemClock }: TelemetryOptions,
  { metrics: signal }: OtelSettings,
  semconv: SemconvMetrics | undefined,
): Promise<IMetricReader | undefined> {
  if (!signal || !semconv) return undefined;
  const [{ PeriodicExportingMetricReader }, { emptyResource }, exporter] = await Promise.all([
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/resources'),
    openMetricExporter(signal),
  ]);
  const producer = new FamilyProducer({
    families: () => [...Object.values(own.families), ...semconv.families],
    scope: { name: SCOPE, version },
    resource: emptyResource(),
    flush: own.flush,
    clock,
  });
  const { exportIntervalMillis, exportTimeoutMillis } = signal;
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis,
    exportTimeoutMillis,
    metricProducers: [producer],
  });
}

async function openLines({ logs: signal }: OtelSettings): Promise<LogRecordProcessor | undefined> {
  if (!signal) return undefined;
  const [{ BatchLogRecordProcessor }, exporter] = await Promise.all([
    import('@opentelemetry/sdk-logs'),
    openLogExporter(signal),
  ]);
  return new BatchLogRecordProcessor({ exporter, ...signal.batch });
}

function detectorOf(resources: typeof import('@opentelemetry/resources'), name: Detector): ResourceDetector {
  return {
    env: resources.envDetector,
    host: resources.hostDetector,
    os: resources.osDetector,
    process: resources.processDetector,
    serviceinstance: resources.serviceInstanceIdDetector,
  }[name];
}

/** The gateway reads W3C headers itself, as without OpenTelemetry; the SDK's propagators read all others. */
function parentReader(propagators: OtelSettings['propagators']): ParentOf {
  const formats = propagators.filter((name) => name !== 'baggage');
  if (formats.length === 0) return () => ROOT_CONTEXT;
  if (formats.length === 1 && formats[0] === 'tracecontext') return w3cParent;
  return ({ request }) => propagation.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
}

async function within(ms: number, exported: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<void>();
  const callOff = systemClock.after(ms, () => reject(new Error(`the collector did not take them within ${ms} ms`)));
  // A failure after the limit is not reported twice.
  exported.catch(() => {});
  await Promise.race([exported, late]).finally(callOff);
}

/** A collector that is away is no reason for a drain to fail. `forceFlush` rejects with an array. */
function reportTo(log: Logger): (failure: unknown) => void {
  return (failure) => {
    for (const err of [failure].flat())
      log.warn({ component: 'opentelemetry', err }, 'telemetry could not be exported');
  };
}

/** The detector drops the whole variable for one fault in it and says so at debug level only. */
function checkResourceAttributes({ env, log }: TelemetryOptions, detector: ResourceDetector): void {
  const wanted = env['OTEL_RESOURCE_ATTRIBUTES']?.trim();
  const found = Object.keys(detector.detect().attributes ?? {});
  if (wanted && found.length === 0)
    log.warn('OTEL_RESOURCE_ATTRIBUTES cannot be read and is ignored; it must be key=value pairs with commas between.');
}

function reasonOf(detail: unknown): string {
  if (detail instanceof Error) return detail.message;
  return typeof detail === 'string' ? detail : '';
}

const DIAGNOSTICS: Readonly<Record<string, DiagLogLevel>> = {
  none: DiagLogLevel.NONE,
  error: DiagLogLevel.ERROR,
  info: DiagLogLevel.INFO,
  debug: DiagLogLevel.DEBUG,
  verbose: DiagLogLevel.VERBOSE,
  all: DiagLogLevel.ALL,
};

/** The SDK reports failed exports and dropped spans only here. */
function forwardDiagnostics(log: Logger, level = 'warn'): void {
  const at =
    (severity: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, ...details: unknown[]): void =>
      // The message is often only the component's name, and the details contain the reason. A child logger is not used,
      // because it would keep its level when a reload changes the log's level.
      log[severity](
        { component: 'opentelemetry' },
        [message, ...details.map(reasonOf)].filter((text) => text !== '').join(': '),
      );
  diag.setLogger(
    { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), verbose: at('debug') },
    { logLevel: DIAGNOSTICS[level.trim().toLowerCase()] ?? DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
