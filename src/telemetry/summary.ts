import {
  UpstreamError,
  type Attempt,
  type CacheStatus,
  type ErrorCode,
  type Exchange,
  type ReplyEnd,
  type ResolvedTarget,
  type TryRecord,
} from '../plugin/index.ts';
import type { Signals } from '../formats/events.ts';
import type { Loss } from '../formats/conversation.ts';
import { ERROR_LABELS, type ErrorTypeLabel, type RejectionReason } from './error-types.ts';

type Outcome = 'success' | 'error' | 'aborted';

/** What one physical try came to. Times are monotonic milliseconds. */
export interface TrySummary {
  readonly call: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number | undefined;
  readonly outcome: Outcome;
  readonly errorType: ErrorTypeLabel | '';
  readonly resent: boolean;
}

export interface AttemptSummary {
  readonly attempt: Attempt;
  readonly resolved: ResolvedTarget | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  /** It spoke to its upstream, or failed on the way there. */
  readonly counted: boolean;
  readonly stream: boolean;
  /** Undefined where no cache is configured. */
  readonly cache: CacheStatus | undefined;
  readonly tries: readonly TrySummary[];
  /** From the start of the last try until its first content. */
  readonly firstContentMs: number | undefined;
  readonly signals: Signals | undefined;
  readonly losses: readonly Loss[];
}

/** All that metrics, spans and the access line say of a request, worked out once, when its reply has ended. */
export interface RequestSummary {
  readonly exchange: Exchange;
  readonly endedAt: number;
  readonly durationMs: number;
  /** Duration less the time an upstream was waited for, by this request or by the one whose answer it shares. */
  readonly overheadMs: number;
  /** From the arrival until the first content of the reply that left. */
  readonly firstContentMs: number | undefined;
  /** What left; 499 for a client that did not wait for it. */
  readonly status: number;
  /** The same, but a stream that failed after its 200 has its error's status. */
  readonly outcomeStatus: number;
  readonly outcome: Outcome;
  readonly stream: boolean;
  readonly bytesOut: number;
  readonly errorCode: ErrorCode | undefined;
  readonly errorType: ErrorTypeLabel | '';
  readonly disconnectStage: 'queued' | 'waiting' | 'streaming' | undefined;
  readonly rejection: RejectionReason | undefined;
  /** Of the attempt that answered. */
  readonly cache: CacheStatus | undefined;
  readonly attempts: readonly AttemptSummary[];
}

/** nginx's word for a client that left first; never sent. */
const CLIENT_CLOSED_STATUS = 499;

/** Without a token, a permitted address or a connection there is no try, but it is the target that failed. */
const ON_THE_WAY: ReadonlySet<ErrorCode> = new Set([
  'credentials_failed',
  'egress_refused',
  'connection_failed',
  'tls_failed',
  'timeout_connect',
]);

/** Pure: the same exchange and end give the same summary. */
export function summarise(exchange: Exchange, end: ReplyEnd, endedAt: number): RequestSummary {
  const aborted = end.state === 'aborted';
  const error = end.error ?? exchange.error;
  const errorCode = aborted ? 'client_closed' : error?.code;
  const attempts = exchange.attempts.map((attempt) => summariseAttempt(exchange, attempt, end, endedAt));
  const status = aborted ? CLIENT_CLOSED_STATUS : end.status;
  const durationMs = endedAt - exchange.startedAt;
  const answered = attempts.at(-1);
  const firstContentAt = answered?.attempt.tries.at(-1)?.firstContentAt;
  return {
    exchange,
    endedAt,
    durationMs,
    overheadMs: durationMs - waitedMs(attempts),
    firstContentMs: firstContentAt === undefined ? undefined : firstContentAt - exchange.startedAt,
    status,
    outcomeStatus: status < 400 && error ? error.status : status,
    outcome: aborted ? 'aborted' : error ? 'error' : 'success',
    stream: isStream(exchange),
    bytesOut: end.bytes,
    errorCode,
    errorType: errorTypeOf(errorCode),
    disconnectStage: aborted ? disconnectStage(exchange, end) : undefined,
    rejection: aborted || wasTried(exchange) ? undefined : errorCode && ERROR_LABELS[errorCode].rejection,
    cache: answered?.cache,
    attempts,
  };
}

function summariseAttempt(exchange: Exchange, attempt: Attempt, end: ReplyEnd, endedAt: number): AttemptSummary {
  const errorCode = attemptError(exchange, attempt, end);
  const outcome = outcomeOf(errorCode);
  const last = attempt.tries.at(-1);
  return {
    attempt,
    resolved: attempt.resolved,
    startedAt: attempt.startedAt,
    endedAt: last?.endedAt ?? endedAt,
    outcome,
    errorCode,
    errorType: errorTypeOf(errorCode),
    counted: attempt.tries.length > 0 || (errorCode !== undefined && ON_THE_WAY.has(errorCode)),
    stream: attempt.reply?.stream ?? isStream(exchange),
    cache: attempt.cache,
    tries: attempt.tries.map((record) => summariseTry(record, record === last ? errorCode : undefined, endedAt)),
    firstContentMs: last?.firstContentAt === undefined ? undefined : last.firstContentAt - last.startedAt,
    signals: attempt.signals,
    losses: attempt.losses,
  };
}

/**
 * The last attempt made the reply, so what befell the reply befell it; but a plugin's failure after a good answer is not the
 * upstream's. An earlier attempt is only there because it was lost.
 */
function attemptError(exchange: Exchange, attempt: Attempt, end: ReplyEnd): ErrorCode | undefined {
  if (attempt.error) return attempt.error.code;
  if (attempt !== exchange.attempts.at(-1)) return 'upstream_error';
  if (end.state === 'aborted') return 'client_closed';
  const error = end.error ?? exchange.error;
  return error && (!attempt.reply || error instanceof UpstreamError) ? error.code : undefined;
}

/**
 * A failure of the whole attempt that its last try does not know of came after the try had begun well. A try that was refused
 * and repeated at once (a stale token's 401) has only its status to tell.
 */
function summariseTry(record: TryRecord, attemptCode: ErrorCode | undefined, endedAt: number): TrySummary {
  const code = record.error?.code ?? attemptCode;
  const refused = code === undefined && record.status !== undefined && record.status >= 400;
  return {
    call: record.call,
    startedAt: record.startedAt,
    endedAt: record.endedAt ?? endedAt,
    status: record.status,
    outcome: refused ? 'error' : outcomeOf(code),
    errorType: refused ? errorTypeOfStatus(record.status ?? 0) : errorTypeOf(code),
    resent: record.resent,
  };
}

function errorTypeOfStatus(status: number): ErrorTypeLabel {
  const known: Readonly<Record<number, ErrorTypeLabel>> = {
    401: 'auth',
    403: 'permission',
    404: 'not_found',
    429: 'rate_limited',
    503: 'overloaded',
  };
  return known[status] ?? (status < 500 ? 'invalid_request' : 'server_error');
}

function errorTypeOf(code: ErrorCode | undefined): ErrorTypeLabel | '' {
  return code ? ERROR_LABELS[code].errorType : '';
}

function outcomeOf(code: ErrorCode | undefined): Outcome {
  if (code === undefined) return 'success';
  return code === 'client_closed' ? 'aborted' : 'error';
}

/** It has asked an upstream, or waited for another's question. */
const wasTried = (exchange: Exchange): boolean =>
  exchange.attempts.some((attempt) => attempt.tries.length > 0 || attempt.wait !== undefined);

function disconnectStage(exchange: Exchange, end: ReplyEnd): 'queued' | 'waiting' | 'streaming' {
  if (end.bytes > 0) return 'streaming';
  return wasTried(exchange) ? 'waiting' : 'queued';
}

/**
 * What the client asked for: an error sent in place of a stream is no stream itself. The body is let go when an attempt has
 * won, and then that attempt has a reply.
 */
function isStream({ attempts, reply, request }: Exchange): boolean {
  if (reply?.stream || attempts.some((attempt) => attempt.reply?.stream)) return true;
  return request.body?.value('stream') === true;
}

/** Length of the union of the attempts' spans from first try to last byte, and of waits for another's: they may overlap. */
function waitedMs(attempts: readonly AttemptSummary[]): number {
  const spans = attempts
    .flatMap(({ attempt: { wait }, tries, endedAt }) => [
      ...(wait ? [{ from: wait.from, to: wait.to ?? endedAt }] : []),
      ...(tries[0] ? [{ from: tries[0].startedAt, to: endedAt }] : []),
    ])
    .toSorted((a, b) => a.from - b.from);
  let waited = 0;
  let covered = -Infinity;
  for (const { from, to } of spans) {
    waited += Math.max(0, to - Math.max(from, covered));
    covered = Math.max(covered, to);
  }
  return waited;
}
