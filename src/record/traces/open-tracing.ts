import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { ResourceDetector } from '@opentelemetry/resources';
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { systemClock } from '../../plugin/index.ts';
import { openServerSpan, type OpenSpan } from './spans.ts';
import type { TraceSettings, TracesYaml } from './trace-settings.ts';

export interface TracingOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly yaml: TracesYaml | undefined;
  readonly version: string;
  readonly log: Logger;
  /** How long `shutdown` waits for the collector. Injected by tests. */
  readonly shutdownMs?: number;
}

export interface Tracing {
  readonly openSpan: OpenSpan;
  /** Exports the spans that have ended. Failures are logged, here and in `shutdown`. */
  flush(): Promise<void>;
  /** Exports the remaining spans, in bounded time, and stops. Spans that end later are lost. */
  shutdown(): Promise<void>;
}

/** The exporter retries an unavailable collector for 10 s; the end of the process waits less. */
const SHUTDOWN_MS = 3_000;

/**
 * Tracing by OpenTelemetry's SDK. The OTLP packages read their own variables (headers, timeout, compression, certificates)
 * from `process.env`.
 */
export async function openTracing(options: TracingOptions, settings: TraceSettings): Promise<Tracing> {
  forwardDiagnostics(options.log);
  const [sdk, resources, exporter] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    openExporter(settings),
  ]);
  checkResourceAttributes(options, resources.resourceAttributesEnvDetector);
  const defaults = resources.resourceFromAttributes({
    'service.name': settings.serviceName,
    'service.version': options.version,
  });
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(defaults)
      .merge(
        resources.detectResources({
          detectors: [resources.resourceAttributesEnvDetector, resources.serviceNameEnvDetector],
        }),
      ),
    sampler: openSampler(sdk, settings.sampler),
    spanLimits: settings.limits,
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, ...settings.batch })],
  });
  const tracer = provider.getTracer('gatehouse', options.version);
  return {
    openSpan: (exchange, receivedAt) => openServerSpan(tracer, exchange, receivedAt),
    flush: () => provider.forceFlush().catch(reportTo(options.log)),
    shutdown: () => within(options.shutdownMs ?? SHUTDOWN_MS, provider.shutdown()).catch(reportTo(options.log)),
  };
}

async function within(ms: number, exported: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<void>();
  const callOff = systemClock.after(ms, () => reject(new Error(`the collector did not take them within ${ms} ms`)));
  // A failure after the limit is not reported twice.
  exported.catch(() => {});
  await Promise.race([exported, late]).finally(callOff);
}

/** A collector that is away is no reason for a drain to fail. `forceFlush` rejects with an array. */
function reportTo(log: Logger): (failure: unknown) => void {
  return (failure) => {
    for (const err of [failure].flat()) log.warn({ err }, 'traces could not be exported');
  };
}

/** The detector drops the whole variable for one fault in it and says so at debug level only. */
function checkResourceAttributes({ env, log }: TracingOptions, detector: ResourceDetector): void {
  const wanted = env['OTEL_RESOURCE_ATTRIBUTES']?.trim();
  const found = Object.keys(detector.detect().attributes ?? {});
  if (wanted && found.length === 0)
    log.warn('OTEL_RESOURCE_ATTRIBUTES cannot be read and is ignored; it must be key=value pairs with commas between.');
}

async function openExporter({ protocol, endpoint }: TraceSettings): Promise<SpanExporter> {
  const config = endpoint === undefined ? {} : { url: endpoint };
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return new OTLPTraceExporter(config);
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter(config);
}

function openSampler(
  sdk: typeof import('@opentelemetry/sdk-trace'),
  { kind, ratio }: TraceSettings['sampler'],
): Sampler {
  const roots = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  };
  switch (kind) {
    case 'always_on':
    case 'always_off':
    case 'traceidratio':
      return roots[kind]();
    case 'parentbased_always_on':
      return new sdk.ParentBasedSampler({ root: roots.always_on() });
    case 'parentbased_always_off':
      return new sdk.ParentBasedSampler({ root: roots.always_off() });
    case 'parentbased_traceidratio':
      return new sdk.ParentBasedSampler({ root: roots.traceidratio() });
  }
}

function reasonOf(detail: unknown): string {
  if (detail instanceof Error) return detail.message;
  return typeof detail === 'string' ? detail : '';
}

/** The SDK reports failed exports and dropped spans only here. */
function forwardDiagnostics(log: Logger): void {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, ...details: unknown[]): void =>
      // The message is often only the component's name, and the details contain the reason. A child logger is not used,
      // because it would keep its level when a reload changes the log's level.
      log[level](
        { component: 'opentelemetry' },
        [message, ...details.map(reasonOf)].filter((text) => text !== '').join(': '),
      );
  diag.setLogger(
    { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug'), verbose: at('debug') },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
