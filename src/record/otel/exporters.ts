import type { LogRecordExporter } from '@opentelemetry/sdk-logs';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Protocol, SignalSettings } from './otel-settings.ts';
import type { SpanBatch, SpanSender } from './span-batches.ts';

type Address = { readonly url?: string };
type Exporters<T> = Readonly<Record<Protocol, (address: Address) => Promise<T>>>;

const SPANS: Exporters<SpanExporter> = {
  'http/protobuf': async (to) => new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter(to),
  'http/json': async (to) => new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter(to),
  grpc: async (to) => new (await import('@opentelemetry/exporter-trace-otlp-grpc')).OTLPTraceExporter(to),
};

const METRICS: Exporters<PushMetricExporter> = {
  'http/protobuf': async (to) =>
    new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter(to),
  'http/json': async (to) => new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter(to),
  grpc: async (to) => new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter(to),
};

const LOGS: Exporters<LogRecordExporter> = {
  'http/protobuf': async (to) => new (await import('@opentelemetry/exporter-logs-otlp-proto')).OTLPLogExporter(to),
  'http/json': async (to) => new (await import('@opentelemetry/exporter-logs-otlp-http')).OTLPLogExporter(to),
  grpc: async (to) => new (await import('@opentelemetry/exporter-logs-otlp-grpc')).OTLPLogExporter(to),
};

/** The packages read headers, timeout, compression, certificates and absent endpoints from `process.env`. */
const opener =
  <T>(exporters: Exporters<T>) =>
  ({ protocol, endpoint }: SignalSettings): Promise<T> =>
    exporters[protocol](endpoint === undefined ? {} : { url: endpoint });

export const openSpanExporter = opener(SPANS);
export const openMetricExporter = opener(METRICS);
export const openLogExporter = opener(LOGS);

/**
 * Sends spans that are bytes already. Address, headers, certificates, compression, retries and answers are those of
 * OpenTelemetry's exporter over http/protobuf, which is made of the same parts.
 */
export async function openSpanSender(
  { endpoint }: SignalSettings,
  toRequest: (spans: Buffer) => Buffer,
): Promise<SpanSender> {
  const [{ convertLegacyHttpOptions, createOtlpHttpExportDelegate }, { ProtobufTraceSerializer }] = await Promise.all([
    import('@opentelemetry/otlp-exporter-base/node-http'),
    import('@opentelemetry/otlp-transformer'),
  ]);
  const address = endpoint === undefined ? {} : { url: endpoint };
  return createOtlpHttpExportDelegate(
    convertLegacyHttpOptions(address, 'TRACES', 'v1/traces', { 'Content-Type': 'application/x-protobuf' }),
    {
      serializeRequest: ({ spans }: SpanBatch) => toRequest(spans),
      deserializeResponse: (data) => ProtobufTraceSerializer.deserializeResponse(data),
    },
    'otlp_http_span_exporter',
    { name: 'span', countItems: ({ count }) => count },
    undefined,
  );
}
