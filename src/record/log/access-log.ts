import type { Logger } from 'pino';
import type { BoundedRecord } from '../bounded-record.ts';
import type { RecordedAttempt } from '../record.ts';

/** Writes the one line of a request whose reply has ended. */
export type AccessLog = (record: BoundedRecord, spanId: string | undefined) => void;

export interface AccessLogOptions {
  readonly log: Logger;
  /** `errors`: 4xx, 5xx and broken streams only. */
  readonly mode: 'all' | 'errors' | 'off';
}

/** Maximum access lines per second for requests rejected by overload, so that the log is not flooded as well. */
const OVERLOAD_LINES = 10;

/**
 * Levels: error for a 5xx and for a stream that was interrupted after its 200; warn for a 4xx; info for the rest,
 * including clients that disconnected (499), which is their choice and no fault. Headers and bodies are never in a
 * line. Requests rejected by overload get at most `OVERLOAD_LINES` lines per second; the next line reports how many
 * were omitted. Metrics and the admin listener's records omit none.
 */
export function createAccessLog({ log, mode }: AccessLogOptions): AccessLog {
  if (mode === 'off') return () => {};
  const overload = new Sampled();
  return (record, spanId) => {
    const level = levelOf(record);
    if (mode === 'errors' && level === 'info') return;
    // Avoids building a line that the logger would discard.
    if (!log.isLevelEnabled(level)) return;
    if (record.rejection !== 'overload') return log[level](toLine(record, spanId), MESSAGES[record.outcome]);
    const without = overload.take(record.receivedAt);
    if (without === undefined) return;
    const reported = without > 0 ? { ...toLine(record, spanId), not_logged: without } : toLine(record, spanId);
    log[level](reported, MESSAGES[record.outcome]);
  };
}

/** Limits the lines per second. */
class Sampled {
  #second = 0;
  #lines = 0;
  #without = 0;

  /** Returns the number of requests without a line since the last line; undefined when this one gets no line. */
  take(wallMs: number): number | undefined {
    const second = Math.floor(wallMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#lines = 0;
    }
    if (this.#lines === OVERLOAD_LINES) {
      this.#without += 1;
      return undefined;
    }
    this.#lines += 1;
    const without = this.#without;
    this.#without = 0;
    return without;
  }
}

const MESSAGES = {
  success: 'request completed',
  error: 'request failed',
  aborted: 'client left',
  running: 'request runs',
} as const satisfies Record<BoundedRecord['outcome'], string>;

function levelOf({ outcome, outcomeStatus }: BoundedRecord): 'info' | 'warn' | 'error' {
  if (outcome === 'aborted' || outcomeStatus < 400) return 'info';
  return outcomeStatus < 500 ? 'warn' : 'error';
}

function toLine(record: BoundedRecord, spanId: string | undefined): object {
  const { attempts, skipped, errorCode, errorType, firstContentMs } = record;
  const answered = attempts.at(-1);
  return {
    request_id: record.id,
    trace_id: record.traceId,
    ...(spanId !== undefined && { span_id: spanId }),
    method: record.method,
    route: record.route ?? null,
    path: record.path,
    status: record.status,
    duration_ms: round(record.durationMs),
    overhead_ms: round(record.overheadMs),
    ...(firstContentMs !== undefined && { ttfc_ms: round(firstContentMs) }),
    bytes_in: record.bytesIn,
    bytes_out: record.bytesOut,
    stream: record.stream,
    ...(record.cache && { cache: record.cache }),
    config_hash: record.settingsHash,
    ...(record.configId && { config_id: record.configId, gateway_config_hash: record.configHash }),
    ...(record.prompt && { prompt: `${record.prompt.id}@${record.prompt.version}` }),
    ...(record.keyId !== undefined && { key_id: record.keyId }),
    ...(record.metadata && { metadata: record.metadata }),
    ...(record.metadataDropped > 0 && { metadata_dropped: record.metadataDropped }),
    ...(answered && targetFields(answered, record)),
    ...(skipped.length > 0 && { skipped }),
    ...(errorCode && { error_code: errorCode, error_type: errorType }),
    ...(record.plugin !== undefined && { plugin: record.plugin }),
    client_ip: record.clientAddress,
    ...(record.userAgent !== undefined && { user_agent: record.userAgent }),
  };
}

/** Fields of the attempt that answered, and the list of all attempts. */
function targetFields(answered: RecordedAttempt, { attempts, retries }: BoundedRecord): object {
  const { place, responseModel, finish, losses, defaulted, usage, semantic } = answered;
  return {
    ...(place && { provider: place.provider, request_model: place.model }),
    ...(responseModel !== undefined && { response_model: responseModel }),
    ...(finish && { finish_reason: finish }),
    attempts: attempts.map(attemptField),
    retries,
    ...(semantic && {
      semantic: {
        result: semantic.result,
        ...(semantic.reason !== undefined && { reason: semantic.reason }),
        ...(semantic.similarity !== undefined && { similarity: Math.round(semantic.similarity * 10_000) / 10_000 }),
      },
    }),
    ...(losses.length > 0 && { losses: losses.map(({ param, action }) => `${param}:${action}`) }),
    ...(defaulted.length > 0 && { defaulted: defaulted.map(({ param, value }) => `${param}:${value}`) }),
    ...(usage &&
      answered.answered && {
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

function attemptField({ target, why, place, durationMs, tries, errorCode, failure }: RecordedAttempt): object {
  return {
    target,
    why,
    ...(place && { provider: place.provider }),
    tries: tries.length,
    status: tries.at(-1)?.status,
    duration_ms: round(durationMs),
    ...(errorCode && { error_code: errorCode }),
    ...(failure?.upstreamKind !== undefined && { upstream_kind: failure.upstreamKind }),
    ...(failure?.upstreamMessage !== undefined && { upstream_message: failure.upstreamMessage }),
    ...(failure?.upstreamParam !== undefined && { upstream_param: failure.upstreamParam }),
    ...(failure?.upstreamCode !== undefined && { upstream_code: failure.upstreamCode }),
  };
}

/** Rounds to microseconds. */
const round = (ms: number): number => Math.round(ms * 1000) / 1000;
