import {
  lossesOf,
  retriesOf,
  type Attempt,
  type Exchange,
  type SkippedTarget,
  type Target,
  type TryRecord,
} from '../kernel/index.ts';
import { blamedPlugin } from '../kernel/outside/blame.ts';
import type { GatewayError } from '../../plugin/index.ts';
import type { Usage } from '../../formats/events.ts';
import { endOfAttempt, isEndedByGateway, isUnsent, type RecordEnd } from './attempt-end.ts';
import { cut } from './cut.ts';
import { recordSemantic } from './record-semantic.ts';
import { ERROR_LABELS, type DisconnectStage } from './error-types.ts';
import { RecurringTexts } from './fields/recurring-texts.ts';
import { conditionsOf, metadataOf } from './recorded-metadata.ts';
import { geoOf, NO_COSTS, type RequestPrices } from './costs.ts';
import { bookedUsage } from './booked-usage.ts';
import { errorTypeOf, failureOf, outcomeOf, recordTry, waitedMs } from './recorded-tries.ts';
import { substitutionOf } from './substitution.ts';
import type { RecordedPlace, RecordedAttempt, RecordedSkip, RecordTimes, RequestRecord } from './record.ts';

/** nginx's status for a client that disconnected first; never sent. */
const CLIENT_CLOSED_STATUS = 499;

const NONE: readonly never[] = [];

const recurring = (): RecurringTexts => new RecurringTexts(cut);

/** Texts as they are recorded, by field. They are copies: a slice, such as a path, would keep its query in memory. */
const TEXTS = {
  path: recurring(),
  userAgent: recurring(),
  asked: recurring(),
  target: recurring(),
  model: recurring(),
  url: recurring(),
  responseModel: recurring(),
  other: recurring(),
};

interface RecordSources {
  readonly spanId?: string | undefined;
  readonly isSampled?: boolean | undefined;
  /** Default: no costs. */
  readonly prices?: RequestPrices | undefined;
}

/** Creates the record of a request. Pure: equal exchanges, ends and times give equal records. */
export function recordOf(exchange: Exchange, end: RecordEnd, at: RecordTimes, more: RecordSources = {}): RequestRecord {
  const { request, operation, config, prompt, startedAt, draws } = exchange;
  const basis = { ...at, prices: more.prices };
  const attempts = exchange.attempts.map((attempt) => recordAttempt(exchange, attempt, end, basis));
  const last = attempts.at(-1);
  // A request that itself names its target has a config without an id.
  const chosen = config?.id === '' ? undefined : config;
  const result = resultOf(exchange, end);
  return {
    id: exchange.id,
    explainId: exchange.explainId,
    traceId: exchange.trace.traceId,
    spanId: more.spanId,
    isSampled: more.isSampled ?? false,
    receivedAt: at.receivedAt,
    state: end.state,
    method: request.method,
    path: TEXTS.path.of(request.path),
    route: operation?.path,
    operation: operation?.id,
    semconvName: operation?.semconvName,
    clientAddress: request.remoteAddress,
    userAgent: TEXTS.userAgent.of(request.headers['user-agent']),
    keyId: exchange.caller?.keyId,
    team: exchange.caller?.team,
    origin: exchange.caller?.origin,
    ...metadataOf(exchange),
    configId: chosen?.id,
    configHash: chosen?.hash,
    namesConfig: exchange.namesConfig,
    askedModel: TEXTS.asked.of(exchange.askedModel),
    alias: exchange.alias?.listed,
    prompt: prompt && { id: prompt.id, version: prompt.version },
    upload: exchange.upload,
    settingsHash: exchange.settingsHash,
    deadlineMs: exchange.deadline - startedAt,
    durationMs: at.endedAt - startedAt,
    overheadMs: at.endedAt - startedAt - waitedMs(exchange.attempts, at.endedAt),
    firstContentMs: last?.answered ? firstContentMsOf(exchange) : undefined,
    status: result.status,
    outcomeStatus: result.outcomeStatus,
    outcome: result.outcome,
    errorCode: result.errorCode,
    errorType: result.errorType,
    plugin: result.plugin,
    disconnectStage: result.disconnectStage,
    rejection: result.rejection,
    limitedBy: result.limitedBy,
    stream: isStream(exchange),
    bytesIn: request.bodyBytes,
    bytesOut: end.bytes,
    cache: last?.cache,
    retries: attempts.reduce((sum, { retries }) => sum + retries, 0),
    attempts,
    skipped: exchange.skipped.length === 0 ? NONE : exchange.skipped.map(recordSkip),
    ignoredPlace: ignoredPlaceOf(request.params),
    // Bounded by the nesting of a config; the paths are the config's, not the caller's.
    conditions: exchange.conditions.length === 0 ? NONE : conditionsOf(exchange),
    draws,
    guards: exchange.guards,
  };
}

function firstContentMsOf({ attempts, startedAt }: Exchange): number | undefined {
  const at = attempts.at(-1)?.tries.at(-1)?.firstContentAt;
  return at === undefined ? undefined : at - startedAt;
}

function ignoredPlaceOf({ project, location }: Exchange['request']['params']): RequestRecord['ignoredPlace'] {
  if (project === undefined || location === undefined) return undefined;
  return { project: TEXTS.other.of(project), location: TEXTS.other.of(location) };
}

function resultOf(exchange: Exchange, end: RecordEnd) {
  const aborted = end.state === 'aborted';
  const error = aborted ? undefined : (end.error ?? exchange.error);
  const errorCode = aborted ? 'client_closed' : error?.code;
  const status = aborted ? CLIENT_CLOSED_STATUS : end.status;
  return {
    status,
    outcomeStatus: status < 400 && error ? error.clientStatus : status,
    outcome: outcomeOf(errorCode, end),
    errorCode,
    errorType: errorTypeOf(errorCode),
    plugin: error && TEXTS.other.of(error.plugin ?? blamedPlugin(error)),
    disconnectStage: aborted ? disconnectStage(exchange, end) : undefined,
    limitedBy: error && limitOf(error),
    rejection: error && !wasTried(exchange) ? ERROR_LABELS[error.code].rejection : undefined,
  };
}

const limitOf = ({ limit, budget }: GatewayError): string | undefined =>
  limit ? `${limit.node}:${limit.limit}` : TEXTS.other.of(budget);

const recordSkip = ({ target, reason, after }: SkippedTarget): RecordedSkip => ({
  target: TEXTS.target.of(target.path),
  ...(target.name !== undefined && { targetName: TEXTS.other.of(target.name) }),
  ...(target.provider !== undefined && { provider: TEXTS.other.of(target.provider.replace(/^@/, '')) }),
  reason,
  after,
});

const firstContentOf = (last: TryRecord | undefined): number | undefined =>
  last?.firstContentAt === undefined ? undefined : last.firstContentAt - last.startedAt;

/** An attempt ends with its last try. One that was refused before it was sent ends where the next one begins. */
const attemptEndedAt = ({ attempts }: Exchange, attempt: Attempt): number | undefined =>
  attempt.tries.at(-1)?.endedAt ?? attempts[attempts.indexOf(attempt) + 1]?.startedAt;

interface AttemptBasis extends RecordTimes {
  readonly prices: RequestPrices | undefined;
}

function recordAttempt(exchange: Exchange, attempt: Attempt, end: RecordEnd, basis: AttemptBasis): RecordedAttempt {
  const { endedAt, receivedAt, prices } = basis;
  const isLast = attempt === exchange.attempts.at(-1);
  const { error, errorCode } = endOfAttempt(exchange, attempt, end);
  const { target, startedAt, tries, signals, semantic, reply } = attempt;
  const costs = prices?.costsOf(exchange, attempt, { errorCode, receivedAt }) ?? NO_COSTS;
  const last = tries.at(-1);
  const usage = bookedUsage(exchange, attempt);
  const context = { exchange, error, errorCode, end, endedAt };
  const answered = isLast && hasAnswered(reply, attempt.error);
  return {
    number: attempt.number,
    target: TEXTS.target.of(target.path),
    targetName: TEXTS.other.of(target.name),
    why: attempt.choice.reason,
    place: placeOf(attempt),
    startedMs: startedAt - exchange.startedAt,
    durationMs: (attemptEndedAt(exchange, attempt) ?? endedAt) - startedAt,
    outcome: isEndedByGateway(error) ? 'aborted' : outcomeOf(errorCode, isLast ? end : undefined),
    errorCode,
    errorType: errorTypeOf(errorCode),
    failure: error && errorCode === error.code ? failureOf(error) : undefined,
    answered,
    counted: tries.length > 0 || isUnsent(errorCode),
    stream: reply?.stream ?? isStream(exchange),
    commit: target.commit,
    cache: attempt.cache,
    cacheMode: cacheModeOf(target),
    semantic: semantic && recordSemantic(semantic, prices?.costOfVectors(semantic.embedding, receivedAt)),
    tries: tries.map((_, index) => recordTry(tries, index, context)),
    retries: retriesOf(tries),
    firstContentMs: firstContentOf(last),
    responseModel: TEXTS.responseModel.of(signals?.model),
    finish: signals?.finish,
    usage,
    claimedUsage: claimedUsage(signals?.usage, usage),
    substitution: substitutionOf(exchange, attempt, prices, receivedAt),
    cost: costs.cost,
    lostCosts: costs.lost,
    losses: recordLosses(attempt),
    files: recordFiles(attempt),
    defaulted: recordDefaulted(attempt),
    estimated: attempt.resolved?.estimatesTokens ?? false,
    prefixes: attempt.prefixes?.(answered),
  };
}

/** The upstream's own counts, where they are not those that are booked. */
const claimedUsage = (reported: Usage | undefined, booked: Usage | undefined): RecordedAttempt['claimedUsage'] =>
  booked === reported ? undefined : (reported?.claimed ?? reported);

const hasAnswered = (reply: Attempt['reply'], error: GatewayError | undefined): boolean =>
  reply !== undefined && error === undefined;

const cacheModeOf = ({ cache }: Target): RecordedAttempt['cacheMode'] => (cache?.semantic ? 'semantic' : 'exact');

function placeOf({ resolved }: Attempt): RecordedPlace | undefined {
  if (!resolved) return undefined;
  const { slug, provider, semconvName, model, modelLabel, origin, path, region } = resolved;
  return {
    provider: slug,
    semconvName,
    model: TEXTS.model.of(model),
    modelLabel,
    url: urlOf(origin, path),
    geo: geoOf(provider, region),
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

/** Whether the request was sent to an upstream, or waited for an identical request. */
const wasTried = (exchange: Exchange): boolean =>
  exchange.attempts.some((attempt) => attempt.tries.length > 0 || attempt.wait !== undefined);

function disconnectStage(exchange: Exchange, end: RecordEnd): DisconnectStage {
  if (end.bytes > 0) return 'streaming';
  return wasTried(exchange) ? 'waiting' : 'queued';
}

/** The body is released when an attempt has succeeded, which then has a reply. */
function isStream({ attempts, reply, request }: Exchange): boolean {
  if (reply?.stream || attempts.some((attempt) => attempt.reply?.stream)) return true;
  return request.body?.value('stream') === true;
}

function recordLosses(attempt: Attempt): RecordedAttempt['losses'] {
  const losses = lossesOf(attempt);
  return losses.length === 0 ? NONE : losses.map(recordLoss);
}

const recordLoss = ({ param, action, count }: Attempt['losses'][number]): RecordedAttempt['losses'][number] => ({
  param: cut(param),
  action,
  ...(count !== undefined && { count }),
});

const recordDefaulted = ({ defaulted }: Attempt): RecordedAttempt['defaulted'] =>
  defaulted?.map(({ param, value }) => ({ param, value })) ?? NONE;

/** Several parts may name one file; all of them reach a target in the same way. */
function recordFiles({ storedFiles }: Attempt): RecordedAttempt['files'] {
  if (!storedFiles) return NONE;
  return [...new Map(storedFiles.map(({ id, bytes, way }) => [id, { id, bytes, way }])).values()];
}
