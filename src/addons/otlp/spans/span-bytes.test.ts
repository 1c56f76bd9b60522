import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import * as sdk from '@opentelemetry/sdk-trace';
import { resourceFromAttributes } from '@opentelemetry/resources';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exchangeOf } from '../../../core/record/exchange.testkit.ts';
import type { PluginSpan } from '../../../core/kernel/outside/plugin-work.ts';
import type { RequestRecord } from '../../../core/record/record.ts';
import { createSampler, samplingOf } from '../open-spans.ts';
import { anyRecord } from '../../../core/record/records.testkit.ts';
import { exportRequest } from '../open-spans.ts';
import type { Bytes } from './protobuf.ts';
import { createSpanBytes } from './span-bytes.ts';
import type { SpanOptions } from './request-spans.ts';
import { openServerSpan } from '../open-spans.ts';
import { runs } from '../../../../test/support/effort.ts';

/** The same ids each time. */
function countedIds(): sdk.IdGenerator {
  let [spans, traces] = [0, 0];
  return {
    generateSpanId: () => (0xfedc_ba98_0000 + (spans += 1)).toString(16).padStart(16, '0'),
    generateTraceId: () => (0xabcd_ef00_0000 + (traces += 1)).toString(16).padStart(32, '8'),
  };
}

const sampler = createSampler(sdk, { root: 'always_on', ratio: 1, isParentBased: true });
const isSampled = samplingOf(sdk, sampler);

const resource = resourceFromAttributes(
  { 'service.name': 'édge', 'process.pid': 70_000, 'process.command_args': ['node', ''], 'process.interactive': false },
  { schemaUrl: 'https://opentelemetry.io/schemas/1.44.0' },
);
const origin = { resource, name: 'gatehouse', version: '1.2.3' };

interface Asked extends Pick<SpanOptions, 'semconv'> {
  readonly record: RequestRecord;
  readonly headers: Record<string, string>;
  /** Those of plugins. Default: none. */
  readonly own?: readonly PluginSpan[] | undefined;
}

/** The spans of OpenTelemetry's SDK in the bytes of its serializer. */
function bySdk({ record, headers, own = [], semconv = 'latest' }: Asked): Buffer {
  const exporter = new sdk.InMemorySpanExporter();
  const spanProcessors = [new sdk.SimpleSpanProcessor({ exporter })];
  const provider = new sdk.TracerProvider({ spanProcessors, sampler, idGenerator: countedIds(), resource });
  const tracer = provider.getTracer(origin.name, origin.version);
  const server = openServerSpan(tracer, exchangeOf({ headers, startedAt: 3.5 }), record.receivedAt, { semconv });
  for (const span of own) server.addSpan?.(span);
  server.close(record);
  const bytes = ProtobufTraceSerializer.serializeRequest(exporter.getFinishedSpans());
  return Buffer.from(bytes ?? []);
}

function byBytes({ record, headers, own = [], semconv = 'latest' }: Asked): Buffer {
  let all = '';
  const add = (span: Bytes): void => void (all += span);
  const open = createSpanBytes({ isSampled, ids: countedIds(), add, semconv });
  const server = open(exchangeOf({ headers, startedAt: 3.5 }), record.receivedAt);
  for (const span of own) server.addSpan?.(span);
  server.close(record);
  return all === '' ? Buffer.alloc(0) : exportRequest(origin)(Buffer.from(all, 'latin1'));
}

const PARENT = '00-11111111111111111111111111111111-2222222222222222';
const headers = fc.constantFrom<Record<string, string>>(
  {},
  { traceparent: `${PARENT}-01` },
  { traceparent: `${PARENT}-00` },
  { traceparent: `${PARENT}-01`, tracestate: 'a=1,b=é2' },
);
/** Anything that a URL can be, as the addresses of requests are. */
const url = fc.oneof(
  fc.constantFrom('https://api.openai.com/v1/chat/completions', 'http://127.0.0.1:9999/v1', 'https://[::1]:8443/é'),
  fc.webUrl(),
);
const record = fc.tuple(anyRecord, url, fc.nat()).map(([one, address, tokens]) => ({
  ...one,
  attempts: one.attempts.map((attempt) => ({
    ...attempt,
    place: attempt.place && { ...attempt.place, url: address },
    usage: attempt.usage && { ...attempt.usage, input: tokens },
  })),
}));
const time = fc.double({ min: 0, max: 1e6, noNaN: true });
const own = fc.record<PluginSpan>({
  name: fc.string({ minLength: 1 }),
  startedAt: time.map((ms) => ms + 3.5),
  durationMs: time,
  isError: fc.boolean(),
  attributes: fc
    .dictionary(
      fc.stringMatching(/^[a-z.]{1,8}$/),
      fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.double({ min: 0.1, max: 1e6, noNaN: true })),
    )
    .map((attributes) => Object.entries(attributes)),
});
const semconv = fc.constantFrom('latest' as const, 'both' as const);
const asked = fc.record({ record, headers, semconv, own: fc.array(own, { maxLength: 2 }) });

describe('the spans of a request as bytes', () => {
  it('are those of OpenTelemetry’s SDK and serializer', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const bytes = byBytes(one);
        expect(bytes.equals(bySdk(one))).toBe(true);
        expect(bytes.length === 0).toBe(one.headers['traceparent']?.endsWith('-00') ?? false);
      }),
      { numRuns: runs(300) },
    );
  });

  it('have at most 128 attributes and count the others', () => {
    const metadata = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`k${index}`, 'v']));
    const [one] = fc.sample(anyRecord, { numRuns: 1, seed: 1 });
    const big = { record: { ...one!, metadata, attempts: [] }, headers: {} };
    const bytes = byBytes(big);
    expect(bytes.equals(bySdk(big))).toBe(true);
    expect([bytes.includes('k90'), bytes.includes('k299')]).toEqual([true, false]);
  });

  it('are none for a request that is not sampled, which keeps its ids', () => {
    const added: Bytes[] = [];
    const open = createSpanBytes({
      isSampled: () => false,
      ids: countedIds(),
      add: (span) => void added.push(span),
    });
    const span = open(exchangeOf(), 0);
    const [one] = fc.sample(anyRecord, 1);
    span.close(one!);
    expect(span).toMatchObject({ isSampled: false, traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect([added, span.addSpan]).toEqual([[], undefined]);
  });
});
