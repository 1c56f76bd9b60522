import { SpanKind, type Context } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { SamplerSettings } from './otel-settings.ts';

export type Sdk = typeof import('@opentelemetry/sdk-trace');

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
