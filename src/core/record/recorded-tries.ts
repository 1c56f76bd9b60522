import type { Attempt, Exchange, TryRecord } from '../kernel/index.ts';
import { failureKinds, type ErrorCode, type GatewayError } from '../../plugin/index.ts';
import { cut } from './cut.ts';
import { isEndedByGateway, type RecordEnd } from './attempt-end.ts';
import { ERROR_LABELS, type ErrorTypeLabel } from './error-types.ts';
import type { RecordedFailure, RecordedTry, RequestOutcome } from './record.ts';
import { scrub } from './scrub.ts';

interface TryContext {
  readonly exchange: Exchange;
  /** The attempt's error. */
  readonly error: GatewayError | undefined;
  readonly errorCode: ErrorCode | undefined;
  readonly end: RecordEnd;
  readonly endedAt: number;
}

/**
 * One try. An attempt's failure that its last try lacks came after the try had begun successfully. A try that was
 * refused and repeated at once (a stale token's 401) has only its status.
 */
export function recordTry(tries: readonly TryRecord[], index: number, context: TryContext): RecordedTry {
  const record = tries[index]!;
  const isLast = index === tries.length - 1;
  const { startedAt, status, waitedUntil } = record;
  const errorCode = record.error?.code ?? (isLast ? context.errorCode : undefined);
  const refused = errorCode === undefined && status !== undefined && status >= 400;
  const { outcome, errorType } = outcomeOf(errorCode, record.endedAt === undefined ? context.end : undefined);
  return {
    call: record.call,
    startedMs: startedAt - context.exchange.startedAt,
    durationMs: (record.endedAt ?? context.endedAt) - startedAt,
    waitedMs: index === 0 ? 0 : waitBefore(tries, index),
    inLineMs: waitedUntil === undefined ? undefined : waitedUntil - startedAt,
    status,
    outcome: refused
      ? 'error'
      : errorCode !== undefined && isEndedByGateway(record.error ?? context.error)
        ? 'aborted'
        : outcome,
    errorCode,
    errorType: refused ? errorTypeOfStatus(status) : errorType,
    resent: record.resent,
  };
}

function waitBefore(tries: readonly TryRecord[], index: number): number {
  const { call, startedAt } = tries[index]!;
  for (let before = index - 1; before >= 0; before -= 1) {
    const { call: other, endedAt } = tries[before]!;
    if (other === call) return Math.max(0, startedAt - (endedAt ?? startedAt));
  }
  return 0;
}

const ERROR_TYPE_OF_STATUS: Readonly<Record<number, ErrorTypeLabel>> = {
  401: 'auth',
  403: 'permission',
  404: 'not_found',
  429: 'rate_limited',
  503: 'overloaded',
};

const errorTypeOfStatus = (status: number): ErrorTypeLabel =>
  ERROR_TYPE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request' : 'server_error');

interface Outcome {
  readonly outcome: RequestOutcome;
  readonly errorType: ErrorTypeLabel | '';
}

const SUCCESS: Outcome = { outcome: 'success', errorType: '' };
const RUNNING: Outcome = { outcome: 'running', errorType: '' };

/** @param end the end of the request, for an attempt or try that has no end of its own */
export function outcomeOf(code: ErrorCode | undefined, end: RecordEnd | undefined): Outcome {
  if (code === undefined) return end?.state === 'running' ? RUNNING : SUCCESS;
  return { outcome: code === 'client_closed' ? 'aborted' : 'error', errorType: ERROR_LABELS[code].errorType };
}

/** The union of attempts from first try to last byte, waits for identical requests and calls for vectors. */
export function waitedMs(attempts: readonly Attempt[], endedAt: number): number {
  const [only] = attempts;
  if (only && attempts.length === 1 && !only.wait && !only.semantic?.embedding) {
    const first = only.tries[0];
    return first ? Math.max(0, (only.tries.at(-1)?.endedAt ?? endedAt) - first.startedAt) : 0;
  }
  const spans = attempts
    .flatMap(({ wait, tries, semantic }) => [
      ...(semantic?.embedding ? [semantic.embedding] : []),
      ...(wait ? [{ from: wait.from, to: wait.to ?? endedAt }] : []),
      ...(tries[0] ? [{ from: tries[0].startedAt, to: tries.at(-1)?.endedAt ?? endedAt }] : []),
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

/** Maximum length, in characters, of an upstream's message. Vendors' longest common ones have about 400. */
const MAX_MESSAGE = 512;
/** Length of the text that is searched for credentials: an upstream may send a megabyte. */
const SCRUBBED = 4 * MAX_MESSAGE;

/** Credentials are replaced before the text is truncated: half of one may not have the form of a credential. */
const reported = (text: string | undefined, length?: number): string | undefined =>
  text === undefined ? undefined : cut(scrub(text.slice(0, SCRUBBED)), length);

export const failureOf = (error: GatewayError): RecordedFailure => ({
  kinds: failureKinds(error),
  status: error.status,
  upstreamKind: error.upstreamKind === undefined ? undefined : cut(error.upstreamKind),
  upstreamMessage: reported(error.upstreamReport?.message, MAX_MESSAGE),
  upstreamParam: reported(error.upstreamReport?.param),
  upstreamCode: reported(error.upstreamReport?.code),
  retryAfterMs: error.retryAfterMs,
});
