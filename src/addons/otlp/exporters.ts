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
    exporters[protocol](addressOf(endpoint));

const addressOf = (endpoint: string | undefined): Address => (endpoint === undefined ? {} : { url: endpoint });

export const openSpanExporter = opener(SPANS);
export const openMetricExporter = opener(METRICS);
export const openLogExporter = opener(LOGS);

type ToRequest = (spans: Buffer) => Buffer;
type OpenSender = (to: Address, toRequest: ToRequest) => Promise<SpanSender>;

/** Made of the same parts as OpenTelemetry's exporters. */
const SENDERS: Readonly<Partial<Record<Protocol, OpenSender>>> = {
  async 'http/protobuf'(to, toRequest) {
    const { convertLegacyHttpOptions, createOtlpHttpExportDelegate } =
      await import('@opentelemetry/otlp-exporter-base/node-http');
    const type = { 'Content-Type': 'application/x-protobuf' };
    const options = convertLegacyHttpOptions(to, 'TRACES', 'v1/traces', type);
    const serializer = await batchSerializer(toRequest);
    return createOtlpHttpExportDelegate(options, serializer, 'otlp_http_span_exporter', COUNT, undefined);
  },
  async grpc(to, toRequest) {
    const { convertLegacyOtlpGrpcOptions, createOtlpGrpcExportDelegate } =
      await import('@opentelemetry/otlp-grpc-exporter-base');
    const options = convertLegacyOtlpGrpcOptions(to, 'TRACES');
    const serializer = await batchSerializer(toRequest);
    const method = ['TraceExportService', '/opentelemetry.proto.collector.trace.v1.TraceService/Export'] as const;
    return createOtlpGrpcExportDelegate(options, serializer, 'otlp_grpc_span_exporter', COUNT, undefined, ...method);
  },
};

const COUNT = { name: 'span', countItems: ({ count }: SpanBatch) => count } as const;

async function batchSerializer(toRequest: ToRequest) {
  const { ProtobufTraceSerializer } = await import('@opentelemetry/otlp-transformer');
  return {
    serializeRequest: ({ spans }: SpanBatch) => toRequest(spans),
    deserializeResponse: (data: Uint8Array) => ProtobufTraceSerializer.deserializeResponse(data),
  };
}

/** Opens a sender of spans that are bytes, made as OpenTelemetry's exporters are. Undefined for JSON. */
export function spanSenderOf({
  protocol,
  endpoint,
}: SignalSettings): ((toRequest: ToRequest) => Promise<SpanSender>) | undefined {
  const open = SENDERS[protocol];
  return open && ((toRequest) => open(addressOf(endpoint), toRequest));
}
