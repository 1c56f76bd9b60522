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
import type { Exchange } from '../../plugin/index.ts';
import { MAX_TEXT } from '../cut.ts';
import { ATTEMPT_FIELDS } from '../fields/attempt-fields.ts';
import { RecurringTexts } from '../fields/recurring-texts.ts';
import { REQUEST_FIELDS } from '../fields/request-fields.ts';
import { attributesReader } from '../fields/span-attributes.ts';
import type { RecordedAttempt, RecordedTry, RequestRecord } from '../record.ts';
import { EARLIER_SPAN, SPAN } from '../semconv.ts';
import { readTraceparent } from './traceparent.ts';

/** The server span of one request. Client spans are created from the record when it closes. */
export interface ServerSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether it is exported. */
  readonly isSampled: boolean;
  close(record: RequestRecord): void;
}

/** Opens the server span of a request. @param receivedAt wall clock, milliseconds since 1970 */
export type OpenSpan = (exchange: Exchange, receivedAt: number) => ServerSpan;

/** The caller's span, from its headers, as the context of the server span. */
export type ParentOf = (exchange: Exchange) => Context;

export interface SpanOptions {
  /** Default: W3C headers. */
  readonly parentOf?: ParentOf;
  /** `both`: attributes also have the names of v1.41. */
  readonly semconv?: 'latest' | 'both';
}

/** Methods that HTTP defines; any other method is not a span name. */
export const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
  'QUERY',
]);

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
  const time = (msAfter: number): HrTime => toHrTime(receivedAt + msAfter);
  const parent = parentOf(exchange);
  const options = {
    kind: SpanKind.SERVER,
    attributes: serverAttributes(exchange),
    startTime: time(0),
  };
  const span = tracer.startSpan(serverSpanName(exchange), options, parent);
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    isSampled: span.isRecording(),
    close(record) {
      const endTime = time(record.durationMs);
      if (!span.isRecording()) return span.end(endTime);
      const inside = trace.setSpan(parent, span);
      const maker = { tracer, time, context: inside, isBoth: semconv === 'both' };
      for (const attempt of record.attempts) recordAttempt(maker, record, attempt);
      closeServerSpan(span, record);
      span.end(endTime);
    },
  };
}

/** Reads `traceparent` and `tracestate`. */
export function w3cParent({ request }: Exchange): Context {
  const remote = readTraceparent(request.headers);
  if (!remote) return ROOT_CONTEXT;
  const { tracestate, ...place } = remote;
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...place, isRemote: true, ...state });
}

function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

function serverSpanName({ operation, request }: Exchange): string {
  const method = METHODS.has(request.method) ? request.method : 'HTTP';
  return operation ? `${method} ${operation.path}` : method;
}

function serverAttributes(exchange: Exchange): Attributes {
  const { operation, request } = exchange;
  const userAgent = request.headers['user-agent'];
  return {
    [SPAN.httpMethod]: METHODS.has(request.method) ? request.method : '_OTHER',
    [SPAN.urlPath]: request.path.slice(0, MAX_TEXT),
    // The gateway's listeners use plain HTTP; the scheme in front of a proxy is not known reliably.
    [SPAN.urlScheme]: 'http',
    [SPAN.clientAddress]: request.remoteAddress,
    [SPAN.requestId]: exchange.id,
    ...(operation && { [SPAN.httpRoute]: operation.path }),
    ...(userAgent !== undefined && { [SPAN.userAgent]: userAgent.slice(0, MAX_TEXT) }),
  };
}

const requestAttributes = attributesReader(REQUEST_FIELDS);
const attemptAttributes = attributesReader(ATTEMPT_FIELDS);

function closeServerSpan(span: Span, record: RequestRecord): void {
  span.setAttributes(requestAttributes(record));
  for (const [key, value] of Object.entries(record.metadata ?? {})) span.setAttribute(SPAN.metadata + key, value);
  // A 4xx is the client's error: a server span leaves its status unset (HTTP semantic conventions, "Status").
  if (record.outcome === 'error' && record.outcomeStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

const promptAttributes = ({ prompt }: RequestRecord): Attributes =>
  prompt ? { [SPAN.promptName]: prompt.id, [SPAN.promptVersion]: String(prompt.version) } : {};

/** What the spans of one request share. */
interface Maker {
  readonly tracer: Tracer;
  readonly time: (msAfter: number) => HrTime;
  readonly context: Context;
  /** Attributes have earlier names, too. */
  readonly isBoth: boolean;
}

/** Creates one inference span per attempt, with one HTTP span per physical try under it. */
function recordAttempt(maker: Maker, record: RequestRecord, attempt: RecordedAttempt): void {
  const { place, startedMs, durationMs } = attempt;
  const operation = record.semconvName;
  // Without a target, with a cached reply or with an estimated count, there was no inference: the server span has the
  // error or the cache's status.
  if (!place || operation === undefined || isFromCache(attempt) || attempt.estimated) return;
  const { tracer, time, context } = maker;
  const server = SERVERS.of(place.url);
  const attributes = {
    [SPAN.operationName]: operation,
    [SPAN.providerName]: place.semconvName,
    [SPAN.requestModel]: place.model,
    ...promptAttributes(record),
    ...server,
  };
  const span = tracer.startSpan(
    `${operation} ${place.model}`,
    { kind: SpanKind.CLIENT, attributes, startTime: time(startedMs) },
    context,
  );
  const own = attemptAttributes(attempt);
  span.setAttributes(own);
  if (maker.isBoth) span.setAttributes(earlierNames(own));
  if (record.configId) span.setAttribute(SPAN.configId, record.configId);
  if (attempt.errorType !== '') span.setStatus({ code: SpanStatusCode.ERROR });
  const inside = { ...maker, context: trace.setSpan(context, span) };
  const target = { [SPAN.httpMethod]: 'POST', [SPAN.urlFull]: place.url, ...server };
  let resent = 0;
  for (const [index, one] of attempt.tries.entries()) {
    if (one.resent) resent += 1;
    recordTry(inside, target, one, index + resent);
  }
  span.end(time(startedMs + durationMs));
}

/** The same values by their names of v1.41. */
function earlierNames(attributes: Attributes): Attributes {
  const renamed = EARLIER_SPAN.map(([latest, earlier]) => [earlier, attributes[latest]] as const);
  return Object.fromEntries(renamed.filter(([, value]) => value !== undefined));
}

export const isFromCache = ({ cache }: RecordedAttempt): boolean =>
  cache === 'hit' || cache === 'semantic_hit' || cache === 'shared';

/** Parsing an address takes 1 µs (measured). */
const SERVERS = new RecurringTexts(serverOf);

function serverOf(text: string): Attributes {
  const url = new URL(text);
  return {
    [SPAN.serverAddress]: url.hostname,
    [SPAN.serverPort]: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
  };
}

function recordTry({ tracer, time, context }: Maker, target: Attributes, record: RecordedTry, resend: number): void {
  const { status, errorType, startedMs, durationMs } = record;
  const attributes: Attributes = {
    ...target,
    ...(resend > 0 && { [SPAN.httpResend]: resend }),
    ...(status !== undefined && { [SPAN.httpStatus]: status }),
    ...(errorType !== '' && { [SPAN.errorType]: errorType }),
  };
  const span = tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes, startTime: time(startedMs) }, context);
  if (errorType !== '') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(time(startedMs + durationMs));
}
