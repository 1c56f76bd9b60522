import {
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
import type { Clock, Exchange, ResolvedTarget } from '../plugin/index.ts';
import { SPAN } from './span-names.ts';
import type { AttemptSummary, RequestSummary, TrySummary } from './summary.ts';
import { readTraceparent } from './traceparent.ts';

/** The server span of one request. Client spans are made when it closes, from what the exchange holds by then. */
export interface ServerSpan {
  readonly traceId: string;
  readonly spanId: string;
  close(summary: RequestSummary): void;
}

/** Methods that HTTP defines; any other word a client sends is not a span name. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']);
const MAX_TEXT = 256;

/**
 * Opens the server span under the caller's, if it sent one. Parents are given, never ambient: undici runs its handlers in the
 * async context of whichever request opened the socket.
 */
export function openServerSpan(tracer: Tracer, clock: Clock, exchange: Exchange): ServerSpan {
  // Spans take wall time, the exchange counts monotonic: one offset per request keeps the distances between spans exact.
  const offset = clock.wall() - clock.now();
  const time = (ms: number): HrTime => toHrTime(ms + offset);
  const remote = readTraceparent(exchange.request.headers);
  const parent = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
  const options = {
    kind: SpanKind.SERVER,
    attributes: serverAttributes(exchange),
    startTime: time(exchange.startedAt),
  };
  const span = tracer.startSpan(serverSpanName(exchange), options, parent);
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    close(summary) {
      const endTime = time(summary.endedAt);
      if (!span.isRecording()) return span.end(endTime);
      const inside = trace.setSpan(parent, span);
      for (const attempt of summary.attempts) recordAttempt({ tracer, time, context: inside }, summary, attempt);
      closeServerSpan(span, summary);
      span.end(endTime);
    },
  };
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
    // The gateway's listeners speak plain HTTP; what a proxy before it spoke is hearsay.
    [SPAN.urlScheme]: 'http',
    [SPAN.clientAddress]: request.remoteAddress,
    [SPAN.requestId]: exchange.id,
    ...(operation && { [SPAN.httpRoute]: operation.path }),
    ...(userAgent !== undefined && { [SPAN.userAgent]: userAgent.slice(0, MAX_TEXT) }),
  };
}

function closeServerSpan(span: Span, summary: RequestSummary): void {
  const { exchange, status, outcome, errorCode, errorType } = summary;
  span.setAttribute(SPAN.httpStatus, status);
  if (exchange.caller) span.setAttribute(SPAN.keyId, exchange.caller.keyId);
  if (exchange.config?.id) span.setAttribute(SPAN.configId, exchange.config.id);
  if (summary.cache) span.setAttribute(SPAN.cacheStatus, summary.cache);
  if (errorCode) span.setAttributes({ [SPAN.errorCode]: errorCode, [SPAN.errorType]: errorType });
  // A 4xx is the client's error: a server span leaves its status unset (HTTP semantic conventions, "Status").
  if (outcome === 'error' && summary.outcomeStatus >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

interface Maker {
  readonly tracer: Tracer;
  readonly time: (ms: number) => HrTime;
  readonly context: Context;
}

/** One inference span per target that was tried, one HTTP span per physical try under it. */
function recordAttempt(maker: Maker, summary: RequestSummary, attempt: AttemptSummary): void {
  const { resolved } = attempt;
  const operation = summary.exchange.operation?.semconvName;
  // Without a target, or with a kept answer, there was no inference: the server span has the error, and the cache's status.
  if (!resolved || operation === undefined || isFromCache(attempt)) return;
  const { tracer, time, context } = maker;
  const attributes = {
    [SPAN.operationName]: operation,
    [SPAN.providerName]: resolved.semconvName,
    [SPAN.requestModel]: resolved.model,
    ...serverOf(resolved),
  };
  const span = tracer.startSpan(
    `${operation} ${resolved.model}`,
    { kind: SpanKind.CLIENT, attributes, startTime: time(attempt.startedAt) },
    context,
  );
  span.setAttributes(inferenceAttributes(summary.exchange, attempt, resolved));
  if (attempt.errorType !== '') span.setStatus({ code: SpanStatusCode.ERROR });
  const inside = { ...maker, context: trace.setSpan(context, span) };
  let resent = 0;
  for (const [index, record] of attempt.tries.entries()) {
    if (record.resent) resent += 1;
    recordTry(inside, resolved, record, index + resent);
  }
  span.end(time(attempt.endedAt));
}

const isFromCache = ({ cache }: AttemptSummary): boolean => cache === 'hit' || cache === 'shared';

function serverOf(resolved: ResolvedTarget): Attributes {
  const url = new URL(resolved.origin);
  return {
    [SPAN.serverAddress]: url.hostname,
    [SPAN.serverPort]: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
  };
}

function inferenceAttributes(exchange: Exchange, summary: AttemptSummary, resolved: ResolvedTarget): Attributes {
  const { attempt, stream, firstContentMs, errorType, errorCode, losses } = summary;
  return {
    [SPAN.providerSlug]: resolved.slug,
    [SPAN.configTarget]: attempt.target.path,
    [SPAN.attempt]: attempt.number,
    ...(exchange.config?.id && { [SPAN.configId]: exchange.config.id }),
    ...(summary.cache && { [SPAN.cacheStatus]: summary.cache }),
    ...(stream && { [SPAN.requestStream]: true }),
    ...(stream && firstContentMs !== undefined && { [SPAN.timeToFirstChunk]: firstContentMs / 1000 }),
    ...replyAttributes(summary),
    ...(errorType !== '' && { [SPAN.errorType]: errorType }),
    ...(errorCode && { [SPAN.errorCode]: errorCode }),
    ...(losses.length > 0 && { [SPAN.lostParams]: losses.slice(0, 20).map((loss) => loss.param.slice(0, MAX_TEXT)) }),
  };
}

function replyAttributes({ signals, outcome }: AttemptSummary): Attributes {
  const usage = signals?.usage;
  // A generation that ended abnormally has the finish reason `error` (GenAI conventions, PR 363).
  const finish = outcome === 'success' ? signals?.finish : 'error';
  return {
    ...(signals?.model !== undefined && { [SPAN.responseModel]: signals.model.slice(0, MAX_TEXT) }),
    ...(finish && { [SPAN.finishReasons]: [finish] }),
    ...(usage && { [SPAN.inputTokens]: usage.input, [SPAN.outputTokens]: usage.output }),
    ...(usage?.cacheRead !== undefined && { [SPAN.cacheReadTokens]: usage.cacheRead }),
    ...(usage?.cacheWrite !== undefined && { [SPAN.cacheWriteTokens]: usage.cacheWrite }),
    ...(usage?.reasoning !== undefined && { [SPAN.reasoningTokens]: usage.reasoning }),
  };
}

function recordTry(
  { tracer, time, context }: Maker,
  resolved: ResolvedTarget,
  record: TrySummary,
  resend: number,
): void {
  const attributes: Attributes = {
    [SPAN.httpMethod]: 'POST',
    // Queries are left out: some vendors take keys there.
    [SPAN.urlFull]: resolved.origin + (resolved.path.split('?', 1)[0] ?? ''),
    ...serverOf(resolved),
    ...(resend > 0 && { [SPAN.httpResend]: resend }),
    ...(record.status !== undefined && { [SPAN.httpStatus]: record.status }),
    ...(record.errorType !== '' && { [SPAN.errorType]: record.errorType }),
  };
  const span = tracer.startSpan(
    'POST',
    { kind: SpanKind.CLIENT, attributes, startTime: time(record.startedAt) },
    context,
  );
  if (record.errorType !== '') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(time(record.endedAt));
}
