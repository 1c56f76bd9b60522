import {
  SpanKind,
  trace,
  type Context,
  SpanStatusCode,
  type Attributes,
  type HrTime,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { Sampler, SpanProcessor } from '@opentelemetry/sdk-trace';
import { createSpanBytes } from './spans/span-bytes.ts';
import type { OpenSpan, ServerSpan } from '../../core/record/telemetry.ts';
import { type SpanOptions, serverSpanName, spansIn, timeOf, w3cParent, type SpanParts } from './spans/request-spans.ts';
import { openSpanExporter, spanSenderOf } from './exporters.ts';
import type { SamplerSettings, TracesSettings } from './otel-settings.ts';
import { SpanBatches, type SpanSender } from './span-batches.ts';
import type { Exchange } from '../../core/kernel/index.ts';
import { spanAttributes } from './spans/spans.generated.ts';
import { attribute, RESOURCE_ATTRIBUTE } from './spans/attribute-bytes.ts';
import { delimited, utf8, varint, type Bytes } from './spans/protobuf.ts';

interface SpanSource extends SpanOrigin {
  readonly resource: Resource;
}

interface Spans {
  /** The spans as OpenTelemetry's SDK needs them; undefined where it makes none. */
  readonly processor: SpanProcessor | undefined;
  readonly sampler: Sampler;
  opener(options: SpanOptions): OpenSpan;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** The gateway writes spans itself, for a third of the CPU time (measured), except JSON and spans with limits. */
export async function openSpans(traces: TracesSettings, source: SpanSource): Promise<Spans> {
  const sdk = await import('@opentelemetry/sdk-trace');
  const made = { sdk, sampler: createSampler(sdk, traces.sampler) };
  const openSender = traces.needsSdk ? undefined : spanSenderOf(traces);
  if (!openSender) return spansOfSdk(traces, source, made);
  // The id of the host is read from a file.
  await source.resource.waitForAsyncAttributes?.();
  return spansAsBytes(await openSender(exportRequest(source)), traces, made);
}

interface SdkParts {
  readonly sdk: Sdk;
  readonly sampler: Sampler;
}

function spansAsBytes(sender: SpanSender, { batch }: TracesSettings, { sdk, sampler }: SdkParts): Spans {
  const batches = new SpanBatches(sender, batch);
  const made = { ids: new sdk.RandomIdGenerator(), isSampled: samplingOf(sdk, sampler), add: batches.add };
  return {
    processor: undefined,
    sampler,
    opener: (options) => createSpanBytes({ ...options, ...made }),
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}

async function spansOfSdk(
  traces: TracesSettings,
  { name, version }: SpanSource,
  { sdk, sampler }: SdkParts,
): Promise<Spans> {
  const processor = new sdk.BatchSpanProcessor({ exporter: await openSpanExporter(traces), ...traces.batch });
  return {
    processor,
    sampler,
    opener(options) {
      const tracer = trace.getTracer(name, version);
      return (exchange, receivedAt) => openServerSpan(tracer, exchange, receivedAt, options);
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}

type Sdk = typeof import('@opentelemetry/sdk-trace');

export function createSampler(sdk: Sdk, settings: SamplerSettings): Sampler {
  const root = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(settings.ratio),
  }[settings.root]();
  return settings.isParentBased ? new sdk.ParentBasedSampler({ root }) : root;
}

/** A sampler as a question. Those of `createSampler` read neither name nor attributes. */
export function samplingOf(sdk: Sdk, sampler: Sampler): (parent: Context, traceId: string) => boolean {
  return (parent, traceId) =>
    sampler.shouldSample(parent, traceId, '', SpanKind.SERVER, {}, []).decision ===
    sdk.SamplingDecision.RECORD_AND_SAMPLED;
}

const spans = spansIn<Attributes>(spanAttributes);

/**
 * Opens the server span as a child of the caller's, if it sent one. Parents are passed explicitly, never ambient:
 * undici runs its handlers in the async context of the request that opened the socket.
 *
 * @param receivedAt wall clock, milliseconds since 1970
 */
export function openServerSpan(
  tracer: Tracer,
  exchange: Exchange,
  receivedAt: number,
  { parentOf = w3cParent, semconv = 'latest' }: SpanOptions = {},
): ServerSpan {
  const time = (msAfter: number): HrTime => timeOf(receivedAt + msAfter);
  const end = (span: Span, { attributes, more, isError, startedMs, durationMs }: SpanParts<Attributes>): void => {
    for (const some of attributes) span.setAttributes(some);
    for (const [key, value] of more) span.setAttribute(key, value);
    if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(time(startedMs + durationMs));
  };
  const write = (parts: SpanParts<Attributes>, parent: Context, inside?: (own: Context) => void): void => {
    const span = tracer.startSpan(parts.name, { kind: parts.kind, startTime: time(parts.startedMs) }, parent);
    inside?.(trace.setSpan(parent, span));
    end(span, parts);
  };
  const parent = parentOf(exchange);
  const name = serverSpanName(exchange);
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: time(0) }, parent);
  const own = trace.setSpan(parent, span);
  const isSampled = span.isRecording();
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    isSampled,
    addSpan: isSampled ? (made) => write(spans.ofPlugin(made, exchange.startedAt), own) : undefined,
    close(record) {
      if (!isSampled) return span.end(time(record.durationMs));
      spans.attempts(record, semconv === 'both', own, write);
      end(span, spans.server(name, record));
    },
  };
}

interface SpanOrigin {
  readonly resource: { readonly attributes: Attributes; readonly schemaUrl?: string | undefined };
  readonly name: string;
  readonly version: string;
}

// Fields of `ExportTraceServiceRequest`, `ResourceSpans`, `ScopeSpans`, `Resource` and `InstrumentationScope`.
const RESOURCE_SPANS = '\x0a';
const RESOURCE = '\x0a';
const NO_DROPPED_ATTRIBUTES = '\x10\0';
const SCOPE_SPANS = '\x12';
const SCOPE = '\x0a';
const SCOPE_NAME = '\x0a';
const SCOPE_VERSION = '\x12';
const SCHEMA_URL = '\x1a';

/** Compiles the request that exports spans. @param spans fields of `ScopeSpans` */
export function exportRequest({ resource, name, version }: SpanOrigin): (spans: Buffer) => Buffer {
  const attributes = Object.entries(resource.attributes).map(([key, value]) =>
    value === undefined ? '' : attribute(key, value, RESOURCE_ATTRIBUTE),
  );
  const origin = delimited(RESOURCE, attributes.join('') + NO_DROPPED_ATTRIBUTES);
  const scope = delimited(SCOPE, delimited(SCOPE_NAME, utf8(name)) + delimited(SCOPE_VERSION, utf8(version)));
  const after = resource.schemaUrl ? delimited(SCHEMA_URL, utf8(resource.schemaUrl)) : '';
  return (spans) => {
    const before = origin + SCOPE_SPANS + varint(scope.length + spans.length) + scope;
    const start = RESOURCE_SPANS + varint(before.length + spans.length + after.length) + before;
    return Buffer.concat([bufferOf(start), spans, bufferOf(after)]);
  };
}

const bufferOf = (bytes: Bytes): Buffer => Buffer.from(bytes, 'latin1');
