import {
  retriesOf,
  UpstreamError,
  type Attempt,
  type ErrorCode,
  type Exchange,
  type GatewayError,
  type SkippedTarget,
  type TryRecord,
} from '../plugin/index.ts';
import type { PriceList } from '../prices/price-list.ts';
import { cut } from './cut.ts';
import { cacheModeOf, recordSemantic } from './record-semantic.ts';
import { ERROR_LABELS, type ErrorTypeLabel } from './error-types.ts';
import { RecurringTexts } from './fields/recurring-texts.ts';
import { metadataOf } from './recorded-metadata.ts';
import { failureOf } from './recorded-failure.ts';
import { recordCost, type RecordedCost } from './recorded-cost.ts';
import { isEstimated, recordDefaulted, recordFiles, recordLosses } from './recorded-request.ts';
import type {
  RequestOutcome,
  RecordedPlace,
  RecordedAttempt,
  RecordedSkip,
  RecordedTry,
  RecordEnd,
  RecordTimes,
  RequestRecord,
} from './record.ts';

/** nginx's status for a client that disconnected first; never sent. */
const CLIENT_CLOSED_STATUS = 499;

/** Failures of a target before any try: no token, no permitted address, no connection. */
const ON_THE_WAY: ReadonlySet<ErrorCode> = new Set([
  'credentials_failed',
  'egress_refused',
  'connection_failed',
  'tls_failed',
  'timeout_connect',
  'pool_exhausted',
  'sockets_exhausted',
]);

const NONE: readonly never[] = [];

const recurring = (): RecurringTexts => new RecurringTexts(cut);

/** Texts as they are recorded, by field. They are copies: a slice, such as a path, would keep its query in memory. */
const TEXTS = {
  method: recurring(),
  path: recurring(),
  userAgent: recurring(),
  target: recurring(),
  model: recurring(),
  url: recurring(),
  responseModel: recurring(),
  other: recurring(),
};

/** What is in a record besides the exchange. */
interface RecordSources {
  /** Of the server span. */
  readonly spanId?: string | undefined;
  /** Default: no costs. */
  readonly prices?: PriceList | undefined;
}

/** Creates the record of a request. Pure: equal exchanges, ends and times give equal records. */
export function recordOf(
  exchange: Exchange,
  end: RecordEnd,
  times: RecordTimes,
  more: RecordSources = {},
): RequestRecord {
  const { endedAt, receivedAt } = times;
  const { request, operation, config, prompt, startedAt } = exchange;
  const attempts = recordAttempts(exchange, end, { endedAt, receivedAt, prices: more.prices });
  const last = attempts.at(-1);
  const durationMs = endedAt - startedAt;
  const { metadata, metadataDropped, metadataLeftOut } = metadataOf(exchange);
  const result = resultOf(exchange, end);
  return {
    id: exchange.id,
    explainId: exchange.explainId,
    traceId: exchange.trace.traceId,
    spanId: more.spanId,
    receivedAt,
    state: end.state,
    method: TEXTS.method.of(request.method),
    path: TEXTS.path.of(request.path),
    route: operation?.path,
    operation: operation?.id,
    semconvName: operation?.semconvName,
    clientAddress: request.remoteAddress,
    userAgent: recorded(request.headers['user-agent'], TEXTS.userAgent),
    keyId: exchange.caller?.keyId,
    metadata,
    metadataDropped,
    metadataLeftOut,
    configId: config?.id,
    configHash: config?.hash,
    alias: exchange.alias?.name,
    prompt: prompt && { id: prompt.id, version: prompt.version },
    upload: exchange.upload,
    settingsHash: exchange.settingsHash,
    deadlineMs: exchange.deadline - startedAt,
    durationMs,
    overheadMs: durationMs - waitedMs(exchange.attempts, endedAt),
    firstContentMs: last?.answered ? firstContentMsOf(exchange) : undefined,
    status: result.status,
    outcomeStatus: result.outcomeStatus,
    outcome: result.outcome,
    errorCode: result.errorCode,
    errorType: result.errorType,
    plugin: result.plugin,
    disconnectStage: result.disconnectStage,
    rejection: result.rejection,
    stream: isStream(exchange),
    bytesIn: request.bodyBytes,
    bytesOut: end.bytes,
    cache: last?.cache,
    retries: attempts.reduce((sum, { retries }) => sum + retries, 0),
    attempts,
    skipped: exchange.skipped.length === 0 ? NONE : exchange.skipped.map(recordSkip),
    ignoredPlace: ignoredPlaceOf(request.params),
    // Bounded by the nesting of a config; the paths are the config's, not the caller's.
    conditions: exchange.conditions.length === 0 ? NONE : exchange.conditions,
  };
}

const recordAttempts = (exchange: Exchange, end: RecordEnd, basis: AttemptBasis): RecordedAttempt[] =>
  exchange.attempts.map((attempt) => recordAttempt(exchange, attempt, end, basis));

function firstContentMsOf({ attempts, startedAt }: Exchange): number | undefined {
  const at = attempts.at(-1)?.tries.at(-1)?.firstContentAt;
  return at === undefined ? undefined : at - startedAt;
}

const recorded = (text: string | undefined, texts: RecurringTexts): string | undefined =>
  text === undefined ? undefined : texts.of(text);

function ignoredPlaceOf({ project, location }: Exchange['request']['params']): RequestRecord['ignoredPlace'] {
  if (project === undefined || location === undefined) return undefined;
  return { project: TEXTS.other.of(project), location: TEXTS.other.of(location) };
}

type Result = Pick<
  RequestRecord,
  'status' | 'outcomeStatus' | 'outcome' | 'errorCode' | 'errorType' | 'plugin' | 'disconnectStage' | 'rejection'
>;

function resultOf(exchange: Exchange, end: RecordEnd): Result {
  const aborted = end.state === 'aborted';
  const error = end.error ?? exchange.error;
  const errorCode = aborted ? 'client_closed' : error?.code;
  const status = aborted ? CLIENT_CLOSED_STATUS : end.status;
  return {
    status,
    outcomeStatus: status < 400 && error ? error.clientStatus : status,
    outcome: outcomeOf(errorCode, end),
    errorCode,
    errorType: errorTypeOf(errorCode),
    plugin: aborted ? undefined : recorded(error?.plugin, TEXTS.other),
    disconnectStage: aborted ? disconnectStage(exchange, end) : undefined,
    rejection: aborted || wasTried(exchange) ? undefined : errorCode && ERROR_LABELS[errorCode].rejection,
  };
}

const recordSkip = ({ target, reason, after }: SkippedTarget): RecordedSkip => ({
  target: TEXTS.target.of(target.path),
  ...(target.provider !== undefined && { provider: TEXTS.other.of(target.provider.replace(/^@/, '')) }),
  reason,
  after,
});

interface AttemptBasis extends RecordTimes {
  readonly prices: PriceList | undefined;
}

function recordAttempt(exchange: Exchange, attempt: Attempt, end: RecordEnd, basis: AttemptBasis): RecordedAttempt {
  const { endedAt, receivedAt, prices } = basis;
  const isLast = attempt === exchange.attempts.at(-1);
  const error = attempt.error ?? (isLast ? errorOfReply(exchange, attempt, end) : undefined);
  const errorCode = attempt.error?.code ?? codeWithout(error, isLast, end);
  const { target, startedAt, tries, signals } = attempt;
  const last = tries.at(-1);
  return {
    number: attempt.number,
    target: TEXTS.target.of(target.path),
    why: attempt.choice.reason,
    place: placeOf(attempt),
    startedMs: startedAt - exchange.startedAt,
    durationMs: (last?.endedAt ?? endedAt) - startedAt,
    outcome: isEndedByGateway(error) ? 'aborted' : outcomeOf(errorCode, isLast ? end : undefined),
    errorCode,
    errorType: errorTypeOf(errorCode),
    failure: error && errorCode === error.code ? failureOf(error) : undefined,
    answered: isLast && hasAnswered(attempt),
    counted: isCounted(attempt, errorCode),
    stream: attempt.reply?.stream ?? isStream(exchange),
    commit: target.commit,
    cache: attempt.cache,
    cacheMode: cacheModeOf(target),
    semantic: recordSemantic(attempt.semantic),
    tries: tries.map((_, index) => recordTry(tries, index, { exchange, error, errorCode, end, endedAt })),
    retries: retriesOf(tries),
    firstContentMs: last?.firstContentAt === undefined ? undefined : last.firstContentAt - last.startedAt,
    responseModel: recorded(signals?.model, TEXTS.responseModel),
    finish: signals?.finish,
    usage: signals?.usage,
    cost: prices && recordCost(exchange, attempt, prices, { errorCode, unsent: isUnsent(errorCode), receivedAt }),
    losses: recordLosses(attempt),
    files: recordFiles(attempt),
    defaulted: recordDefaulted(attempt),
    estimated: isEstimated(attempt),
  };
}

const hasAnswered = ({ reply, error }: Attempt): boolean => reply !== undefined && error === undefined;

const isUnsent = (errorCode: ErrorCode | undefined): boolean => errorCode !== undefined && ON_THE_WAY.has(errorCode);

function isCounted({ tries }: Attempt, errorCode: ErrorCode | undefined): boolean {
  return tries.length > 0 || isUnsent(errorCode);
}

function placeOf({ resolved }: Attempt): RecordedPlace | undefined {
  if (!resolved) return undefined;
  const { slug, semconvName, model, modelLabel, origin, path } = resolved;
  return {
    provider: slug,
    semconvName,
    model: TEXTS.model.of(model),
    modelLabel,
    url: urlOf(origin, path),
  };
}

/** The address of the latest target. Reusing it saves 0.17 µs: joining the address and finding that text (measured). */
let latestUrl = { origin: '', path: '', url: '' };

function urlOf(origin: string, path: string): string {
  if (path === latestUrl.path && origin === latestUrl.origin) return latestUrl.url;
  const query = path.indexOf('?');
  if (query >= 0) return TEXTS.url.of(origin + path.slice(0, query));
  const url = TEXTS.url.of(origin + path);
  latestUrl = { origin, path, url };
  return url;
}

/**
 * Errors by which the gateway itself ends a healthy reply: the target has not failed, and the reply is not complete.
 */
const ENDED_BY_GATEWAY: ReadonlySet<ErrorCode> = new Set(['shutting_down', 'timeout_request']);

/**
 * The last attempt produced the reply, so an error of the reply belongs to it, except a plugin's failure after a
 * complete answer.
 */
function errorOfReply(exchange: Exchange, attempt: Attempt, end: RecordEnd): GatewayError | undefined {
  const error = end.error ?? exchange.error;
  if (!error || !attempt.reply || error instanceof UpstreamError) return error;
  return isEndedByGateway(error) && !attempt.signals?.ended ? error : undefined;
}

function isEndedByGateway(error: GatewayError | undefined): boolean {
  return error !== undefined && ENDED_BY_GATEWAY.has(error.code) && !(error instanceof UpstreamError);
}

/** The error code of an attempt without its own error. An earlier attempt must have failed. */
function codeWithout(error: GatewayError | undefined, isLast: boolean, end: RecordEnd): ErrorCode | undefined {
  if (!isLast) return 'upstream_error';
  return end.state === 'aborted' ? 'client_closed' : error?.code;
}

interface TryContext {
  readonly exchange: Exchange;
  /** Of the attempt. */
  readonly error: GatewayError | undefined;
  readonly errorCode: ErrorCode | undefined;
  readonly end: RecordEnd;
  readonly endedAt: number;
}

/**
 * Records one try. An attempt's failure that its last try lacks came after the try had begun successfully. A try that
 * was refused and repeated at once (a stale token's 401) has only its status.
 */
function recordTry(tries: readonly TryRecord[], index: number, context: TryContext): RecordedTry {
  const record = tries[index]!;
  const isLast = index === tries.length - 1;
  const { startedAt, status, waitedUntil } = record;
  const errorCode = record.error?.code ?? (isLast ? context.errorCode : undefined);
  const refused = errorCode === undefined && status !== undefined && status >= 400;
  return {
    call: record.call,
    startedMs: startedAt - context.exchange.startedAt,
    durationMs: (record.endedAt ?? context.endedAt) - startedAt,
    waitedMs: index === 0 ? 0 : waitBefore(tries, index),
    inLineMs: waitedUntil === undefined ? undefined : waitedUntil - startedAt,
    status,
    outcome: refused
      ? 'error'
      : isEndedByGateway(record.error ?? (isLast ? context.error : undefined))
        ? 'aborted'
        : outcomeOf(errorCode, record.endedAt === undefined ? context.end : undefined),
    errorCode,
    errorType: refused ? errorTypeOfStatus(status) : errorTypeOf(errorCode),
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

function errorTypeOf(code: ErrorCode | undefined): ErrorTypeLabel | '' {
  return code ? ERROR_LABELS[code].errorType : '';
}

/** @param end the end of the request, for an attempt or try that has no end of its own */
function outcomeOf(code: ErrorCode | undefined, end: RecordEnd | undefined): RequestOutcome {
  if (code === undefined) return end?.state === 'running' ? 'running' : 'success';
  return code === 'client_closed' ? 'aborted' : 'error';
}

/** Whether the request was sent to an upstream, or waited for an identical request. */
const wasTried = (exchange: Exchange): boolean =>
  exchange.attempts.some((attempt) => attempt.tries.length > 0 || attempt.wait !== undefined);

function disconnectStage(exchange: Exchange, end: RecordEnd): 'queued' | 'waiting' | 'streaming' {
  if (end.bytes > 0) return 'streaming';
  return wasTried(exchange) ? 'waiting' : 'queued';
}

/**
 * Whether the client requested a stream; an error sent in its place is not a stream itself. The body is released when
 * an attempt has succeeded, and then that attempt has a reply.
 */
function isStream({ attempts, reply, request }: Exchange): boolean {
  if (reply?.stream || attempts.some((attempt) => attempt.reply?.stream)) return true;
  return request.body?.value('stream') === true;
}

/**
 * Milliseconds of waiting for upstreams: the length of the union of each attempt's span from first try to last byte, of
 * waits for identical requests and of calls for vectors, which may overlap.
 */
function waitedMs(attempts: readonly Attempt[], endedAt: number): number {
  const [only] = attempts;
  if (only && attempts.length === 1 && !only.wait && !only.semantic?.embedding) return triedMs(only.tries, endedAt);
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

/** From the first try to the last byte. */
function triedMs(tries: readonly TryRecord[], endedAt: number): number {
  const [first] = tries;
  return first ? Math.max(0, (tries.at(-1)?.endedAt ?? endedAt) - first.startedAt) : 0;
}

/** What an attempt has cost, and the tokens that its upstream has counted. */
export interface AttemptCost {
  readonly cost: RecordedCost;
  /** Undefined: the upstream has counted none. */
  readonly tokens: number | undefined;
}

/** What each attempt has cost, as the record of the request says. An attempt that cost nothing, because nothing was sent or the upstream refused, is not in it. */
export function costsOf(
  exchange: Exchange,
  end: RecordEnd,
  { receivedAt, prices }: { readonly receivedAt: number; readonly prices: PriceList },
): ReadonlyMap<Attempt, AttemptCost> {
  const costs = new Map<Attempt, AttemptCost>();
  for (const attempt of exchange.attempts) {
    const isLast = attempt === exchange.attempts.at(-1);
    const error = attempt.error ?? (isLast ? errorOfReply(exchange, attempt, end) : undefined);
    const errorCode = attempt.error?.code ?? codeWithout(error, isLast, end);
    const cost = recordCost(exchange, attempt, prices, { errorCode, unsent: isUnsent(errorCode), receivedAt });
    if (cost) costs.set(attempt, { cost, tokens: attempt.signals?.usage?.total });
  }
  return costs;
}
