import {
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type HrTime,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import type { Exchange } from '../../../core/kernel/index.ts';
import { spanAttributes } from '../../../core/record/fields/spans.generated.ts';
import type { ServerSpan } from '../../../core/record/telemetry.ts';
import { serverSpanName, spansIn, timeOf, w3cParent, type SpanOptions, type SpanParts } from './request-spans.ts';

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
