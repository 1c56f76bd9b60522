import type { IncomingHttpHeaders } from 'node:http';

/** version-traceid-parentid-flags; versions after 00 may say more behind a further dash (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** What the recommendation asks implementations to carry at least; more is not carried. */
const MAX_TRACESTATE = 512;

/** The caller's place in its trace, as its headers say it. */
export interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  /** As it came. */
  readonly tracestate?: string;
}

/**
 * Read here and not by OpenTelemetry's global propagator, which turns into a no-op under
 * `OTEL_SDK_DISABLED=true` (measured) and whose package is not loaded while tracing is off.
 */
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
