import type { Logger } from 'pino';
import { retriesOf } from '../plugin/index.ts';
import type { AttemptSummary, RequestSummary } from './summary.ts';

/** Writes the one line of a request whose reply has ended. */
export type AccessLog = (summary: RequestSummary, spanId: string | undefined) => void;

export interface AccessLogOptions {
  readonly log: Logger;
  /** `errors`: 4xx, 5xx and broken streams only. */
  readonly mode: 'all' | 'errors' | 'off';
  /** Metadata keys that may be logged; the values are the caller's own words. Default none. */
  readonly metadataKeys?: readonly string[];
}

/** Text of a caller or an upstream is cut to this length, lists to this many. */
const MAX_TEXT = 256;
const MAX_ITEMS = 20;

/**
 * Levels: error for a 5xx and for a stream that broke after its 200; warn for a 4xx; info for the rest, clients that left
 * (499) among it: that is the client's choice and not a fault. Headers and bodies are never in a line.
 */
export function createAccessLog({ log, mode, metadataKeys = [] }: AccessLogOptions): AccessLog {
  if (mode === 'off') return () => {};
  return (summary, spanId) => {
    const level = levelOf(summary);
    if (mode === 'errors' && level === 'info') return;
    // Without this a line below the level would be built for nothing.
    if (!log.isLevelEnabled(level)) return;
    log[level](toLine(summary, spanId, metadataKeys), messageOf(summary));
  };
}

function levelOf({ outcome, outcomeStatus }: RequestSummary): 'info' | 'warn' | 'error' {
  if (outcome === 'aborted' || outcomeStatus < 400) return 'info';
  return outcomeStatus < 500 ? 'warn' : 'error';
}

function messageOf({ outcome }: RequestSummary): string {
  return { success: 'request completed', error: 'request failed', aborted: 'client left' }[outcome];
}

function toLine(summary: RequestSummary, spanId: string | undefined, metadataKeys: readonly string[]): object {
  const { exchange, attempts, errorCode, errorType } = summary;
  const { request } = exchange;
  const answered = attempts.at(-1);
  return {
    request_id: exchange.id,
    trace_id: exchange.trace.traceId,
    ...(spanId !== undefined && { span_id: spanId }),
    method: cut(request.method),
    route: exchange.operation?.path ?? null,
    path: cut(request.path),
    status: summary.status,
    duration_ms: round(summary.durationMs),
    overhead_ms: round(summary.overheadMs),
    ...(summary.firstContentMs !== undefined && { ttfc_ms: round(summary.firstContentMs) }),
    bytes_in: request.bodyBytes,
    bytes_out: summary.bytesOut,
    stream: summary.stream,
    ...(summary.cache && { cache: summary.cache }),
    config_hash: exchange.settingsHash,
    ...(exchange.config?.id && { config_id: exchange.config.id }),
    ...(exchange.caller && { key_id: exchange.caller.keyId }),
    ...(answered && targetFields(answered, attempts)),
    ...metadataField(exchange.metadata, metadataKeys),
    ...(errorCode && { error_code: errorCode, error_type: errorType }),
    client_ip: request.remoteAddress,
    ...(request.headers['user-agent'] !== undefined && { user_agent: cut(request.headers['user-agent']) }),
  };
}

/** Of the attempt that answered, and what was lost before it. */
function targetFields({ resolved, signals, losses }: AttemptSummary, attempts: readonly AttemptSummary[]): object {
  const usage = signals?.usage;
  return {
    ...(resolved && { provider: resolved.slug, request_model: cut(resolved.model) }),
    ...(signals?.model !== undefined && { response_model: cut(signals.model) }),
    ...(signals?.finish && { finish_reason: signals.finish }),
    attempts: attempts.slice(-MAX_ITEMS).map(attemptField),
    retries: attempts.reduce((sum, { attempt }) => sum + retriesOf(attempt.tries), 0),
    ...(losses.length > 0 && {
      losses: losses.slice(0, MAX_ITEMS).map(({ param, action }) => `${cut(param)}:${action}`),
    }),
    ...(usage && {
      tokens: {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cacheRead,
        cache_write: usage.cacheWrite,
        reasoning: usage.reasoning,
      },
    }),
  };
}

function attemptField({ attempt, resolved, startedAt, endedAt, tries, errorCode }: AttemptSummary): object {
  return {
    target: attempt.target.path,
    ...(resolved && { provider: resolved.slug }),
    tries: tries.length,
    status: tries.at(-1)?.status,
    duration_ms: round(endedAt - startedAt),
    ...(errorCode && { error_code: errorCode }),
    ...(attempt.error?.upstreamKind !== undefined && { upstream_kind: cut(attempt.error.upstreamKind) }),
  };
}

function metadataField(metadata: Readonly<Record<string, string>>, keys: readonly string[]): object {
  const chosen = keys.flatMap((key) => {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    return value === undefined ? [] : [[key, cut(value)] as const];
  });
  return chosen.length > 0 ? { metadata: Object.fromEntries(chosen) } : {};
}

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** Microseconds are noise's last digit. */
const round = (ms: number): number => Math.round(ms * 1000) / 1000;
