import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type HrTime,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { Exchange } from '../../kernel/index.ts';
import type { PluginSpan, TraceContext } from '../../kernel/outside/plugin-work.ts';
import { ATTEMPT_FIELDS } from '../fields/attempt-fields.ts';
import {
  ADDRESS_FIELDS,
  attributesReader,
  CALL_FIELDS,
  EARLIER_FIELDS,
  INFERENCE_FIELDS,
  METHODS,
  PLACE_FIELDS,
  SERVER_FIELDS,
  TRY_FIELDS,
} from '../fields/span-fields.ts';
import type { RecordedAttempt, RecordedPlace, RecordedTry, RequestRecord } from '../record.ts';
import { SPAN } from '../semconv.ts';
import { readTraceparent } from './traceparent.ts';

/** The server span of one request. Client spans are created from the record when it closes. */
export interface ServerSpan extends TraceContext {
  readonly spanId: string;
  readonly isSampled: boolean;
  close(record: RequestRecord): void;
}

/** Opens the server span of a request. @param receivedAt wall clock, milliseconds since 1970 */
export type OpenSpan = (exchange: Exchange, receivedAt: number) => ServerSpan;

/** The caller's span, from its headers, as the context of the server span. */
export type ParentOf = (exchange: Exchange) => Context;

export interface SpanOptions {
  readonly parentOf?: ParentOf;
  /** `both`: attributes also have the names of v1.41. */
  readonly semconv?: 'latest' | 'both';
}

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
  const parent = parentOf(exchange);
  const options = { kind: SpanKind.SERVER, startTime: time(0) };
  const span = tracer.startSpan(serverSpanName(exchange), options, parent);
  const { traceId, spanId } = span.spanContext();
  const { startedAt } = exchange;
  const isBoth = semconv === 'both';
  const inside = (): SpanMaker => ({ tracer, time, context: trace.setSpan(parent, span), isBoth });
  return {
    traceId,
    spanId,
    isSampled: span.isRecording(),
    addSpan: span.isRecording() ? (own) => recordOwn(inside(), own, startedAt) : undefined,
    close(record) {
      const endTime = time(record.durationMs);
      if (!span.isRecording()) return span.end(endTime);
      const maker = inside();
      for (const attempt of record.attempts) if (isInference(record, attempt)) recordAttempt(maker, record, attempt);
      closeServerSpan(span, record);
      span.end(endTime);
    },
  };
}

export function w3cParent({ request }: Exchange): Context {
  const remote = readTraceparent(request.headers);
  if (!remote) return ROOT_CONTEXT;
  const { tracestate, ...place } = remote;
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...place, isRemote: true, ...state });
}

export function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

export function serverSpanName({ operation, request }: Exchange): string {
  const method = METHODS.has(request.method) ? request.method : 'HTTP';
  return operation ? `${method} ${operation.path}` : method;
}

const serverAttributes = attributesReader(SERVER_FIELDS);
const inferenceAttributes = attributesReader(INFERENCE_FIELDS);
const placeAttributes = attributesReader(PLACE_FIELDS);
const attemptAttributes = attributesReader(ATTEMPT_FIELDS);
const earlierAttributes = attributesReader(EARLIER_FIELDS);
const addressAttributes = attributesReader(ADDRESS_FIELDS);
const callAttributes = attributesReader(CALL_FIELDS);
const tryAttributes = attributesReader(TRY_FIELDS);

function closeServerSpan(span: Span, record: RequestRecord): void {
  span.setAttributes(serverAttributes(record));
  for (const [key, value] of Object.entries(record.metadata ?? {})) span.setAttribute(SPAN.metadata + key, value);
  if (isServerError(record)) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** A 4xx is the client's error: a server span leaves its status unset (HTTP semantic conventions, "Status"). */
export const isServerError = ({ outcome, outcomeStatus }: RequestRecord): boolean =>
  outcome === 'error' && outcomeStatus >= 500;

/** An attempt that has an inference span. */
export type Inference = RecordedAttempt & { readonly place: RecordedPlace };

/** Without a target, with a cached reply or an estimated count there was no inference: the server span tells it. */
export const isInference = ({ semconvName }: RequestRecord, attempt: RecordedAttempt): attempt is Inference =>
  attempt.place !== undefined && semconvName !== undefined && !isFromCache(attempt) && !attempt.estimated;

export const isFromCache = ({ cache }: RecordedAttempt): boolean =>
  cache === 'hit' || cache === 'semantic_hit' || cache === 'shared';

export const inferenceName = ({ semconvName }: RequestRecord, { model }: RecordedPlace): string =>
  `${semconvName} ${model}`;

/** The tries of an attempt, each with the number of requests that came before it. */
export function triesOf({ tries }: RecordedAttempt): readonly (readonly [one: RecordedTry, resend: number])[] {
  let resent = 0;
  return tries.map((one, index) => {
    if (one.resent) resent += 1;
    return [one, index + resent];
  });
}

interface SpanMaker {
  readonly tracer: Tracer;
  readonly time: (msAfter: number) => HrTime;
  readonly context: Context;
  readonly isBoth: boolean;
}

/** Creates the span of a plugin. @param startedAt of the request, by the clock of the span */
function recordOwn({ tracer, time, context }: SpanMaker, own: PluginSpan, startedAt: number): void {
  const { name, attributes, isError, durationMs } = own;
  const startedMs = own.startedAt - startedAt;
  const options = { kind: SpanKind.INTERNAL, attributes, startTime: time(startedMs) };
  const span = tracer.startSpan(name, options, context);
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(time(startedMs + durationMs));
}

/** Creates one inference span, with one HTTP span per physical try under it. */
function recordAttempt(maker: SpanMaker, record: RequestRecord, attempt: Inference): void {
  const { place, startedMs, durationMs } = attempt;
  const { tracer, time, context } = maker;
  const attributes = {
    ...inferenceAttributes(record),
    ...placeAttributes(place),
    ...addressAttributes(place.url),
    ...attemptAttributes(attempt),
    ...(maker.isBoth && earlierAttributes(attempt)),
  };
  const options = { kind: SpanKind.CLIENT, attributes, startTime: time(startedMs) };
  const span = tracer.startSpan(inferenceName(record, place), options, context);
  if (attempt.errorType !== '') span.setStatus({ code: SpanStatusCode.ERROR });
  const inside = { ...maker, context: trace.setSpan(context, span) };
  const call = callAttributes(place.url);
  for (const [one, resend] of triesOf(attempt)) recordTry(inside, call, one, resend);
  span.end(time(startedMs + durationMs));
}

function recordTry({ tracer, time, context }: SpanMaker, call: Attributes, one: RecordedTry, resend: number): void {
  const { errorType, startedMs, durationMs } = one;
  const attributes = { ...call, ...(resend > 0 && { [SPAN.httpResend]: resend }), ...tryAttributes(one) };
  const span = tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes, startTime: time(startedMs) }, context);
  if (errorType !== '') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(time(startedMs + durationMs));
}
