import type { IncomingHttpHeaders } from 'node:http';

/** version-traceid-parentid-flags; later versions may append fields (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Minimum length that the recommendation requires implementations to propagate; longer values are not propagated. */
const MAX_TRACESTATE = 512;

interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly tracestate?: string;
}

/** Not OpenTelemetry's propagator: `OTEL_SDK_DISABLED=true` disables it, and it loads only with tracing. */
export function readTraceparent(headers: IncomingHttpHeaders): Traceparent | undefined {
  const header = headers['traceparent'];
  const match = typeof header === 'string' ? TRACEPARENT.exec(header.trim()) : null;
  if (!match) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = match;
  if (version === '00' && more !== undefined) return undefined;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
  const tracestate = [headers['tracestate'] ?? []].flat().join(',');
  return tracestate === '' || tracestate.length > MAX_TRACESTATE ? parent : { ...parent, tracestate };
}
