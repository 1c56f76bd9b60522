import { SpanKind, trace, type Context } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { Sampler, SpanProcessor } from '@opentelemetry/sdk-trace';
import { exportRequest, type SpanOrigin } from './spans/export-request.ts';
import { createSpanBytes } from './spans/span-bytes.ts';
import type { OpenSpan } from '../../core/record/telemetry.ts';
import type { SpanOptions } from './spans/request-spans.ts';
import { openServerSpan } from './spans/sdk-spans.ts';
import { openSpanExporter, spanSenderOf } from './exporters.ts';
import type { SamplerSettings, TracesSettings } from './otel-settings.ts';
import { SpanBatches, type SpanSender } from './span-batches.ts';

interface SpanSource extends SpanOrigin {
  readonly resource: Resource;
}

interface Spans {
  /** The spans as OpenTelemetry's SDK needs them; undefined where it makes none. */
  readonly processor: SpanProcessor | undefined;
  readonly sampler: Sampler;
  /** Called after the SDK has started. */
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

/** The sampler of `OTEL_TRACES_SAMPLER`. */
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
