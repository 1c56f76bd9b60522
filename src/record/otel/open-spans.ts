import { trace } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { Sampler, SpanProcessor } from '@opentelemetry/sdk-trace';
import { exportRequest } from '../traces/export-request.ts';
import { createSpanBytes } from '../traces/span-bytes.ts';
import { openServerSpan, type OpenSpan, type SpanOptions } from '../traces/spans.ts';
import { openSpanExporter, openSpanSender } from './exporters.ts';
import type { TracesSettings } from './otel-settings.ts';
import { createSampler, samplingOf, type Sdk } from './samplers.ts';
import { SpanBatches } from './span-batches.ts';

export interface SpanSource {
  readonly resource: Resource;
  /** Of the instrumentation scope. */
  readonly name: string;
  readonly version: string;
}

/** How spans are made and exported. */
export interface Spans {
  /** What OpenTelemetry's SDK needs to make them; undefined where it makes none. */
  readonly processor: SpanProcessor | undefined;
  readonly sampler: Sampler;
  /** Called after the SDK has started. */
  opener(options: SpanOptions): OpenSpan;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/**
 * Over http/protobuf, the default, the gateway writes the bytes of spans itself, which costs a quarter of the CPU time
 * (measured). The SDK makes them for other protocols, and where the environment sets limits of attributes.
 */
export async function openSpans(traces: TracesSettings, source: SpanSource): Promise<Spans> {
  const sdk = await import('@opentelemetry/sdk-trace');
  const sampler = createSampler(sdk, traces.sampler);
  const writesBytes = traces.protocol === 'http/protobuf' && !traces.needsSdk;
  return writesBytes ? spansAsBytes(traces, source, { sdk, sampler }) : spansOfSdk(traces, source, { sdk, sampler });
}

async function spansAsBytes(
  traces: TracesSettings,
  { resource, name, version }: SpanSource,
  { sdk, sampler }: { readonly sdk: Sdk; readonly sampler: Sampler },
): Promise<Spans> {
  // The id of the host is read from a file.
  await resource.waitForAsyncAttributes?.();
  const sender = await openSpanSender(traces, exportRequest({ resource, name, version }));
  const batches = new SpanBatches(sender, traces.batch);
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
  { sdk, sampler }: { readonly sdk: Sdk; readonly sampler: Sampler },
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
