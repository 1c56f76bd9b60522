import { withoutAccount, withoutPage } from './shown-message.ts';
import { STATUS_BY_TYPE } from '../../formats/anthropic-messages/errors.ts';
import { STATUS_BY_GOOGLE } from '../../formats/google-errors.ts';
import type { UpstreamFailure } from '../../formats/events.ts';
import { codeOfWording } from './wordings.ts';
import { UpstreamError, type ErrorCode } from '../../plugin/index.ts';
import type { UpstreamReport } from '../../plugin/errors.ts';
import type { JsonObject } from '../../formats/conversation.ts';
import { isObject } from '../../formats/json/object.ts';

/** docs/protocols/errors.md#status-for-the-client. Other statuses get the code of their class. */
const CODE_BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'invalid_api_key'],
  [402, 'insufficient_quota'],
  [403, 'upstream_permission'],
  [404, 'model_not_found'],
  [409, 'upstream_conflict'],
  [413, 'request_too_large'],
  [429, 'rate_limit_exceeded'],
  [503, 'overloaded'],
  [504, 'timeout'],
  [529, 'overloaded'],
]);

/** For failures without a status: docs/protocols/errors.md#anthropic-errors, docs/protocols/errors.md#google-errors. */
const STATUS_BY_KIND: ReadonlyMap<string, number> = new Map([
  ...STATUS_BY_GOOGLE,
  ...STATUS_BY_TYPE,
  ['insufficient_quota', 402],
  ['server_error', 500],
]);

/** Codes for the kinds that the gateway's own readers report. */
const CODE_BY_OWN_KIND: ReadonlyMap<string, ErrorCode> = new Map([
  ['stream_interrupted', 'stream_interrupted'],
  ['reply_too_large', 'reply_too_large'],
  ['unreadable_reply', 'upstream_error'],
]);

/** `content_filter`, `tool_use_failed`; not Azure's `429` or `DeploymentNotFound`, for which the table has OpenAI's equivalent. */
const OPENAI_WORD = /^[a-z][a-z0-9_]{0,63}$/;

/** Codes of OpenAI that clients act on. Some servers send another word in their place, such as the `type` once more. */
const DECISIVE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['context_length_exceeded', 'insufficient_quota']);

/** Statuses with which vendors report an account without money. Rules, breakers and clients see 402 instead. */
const UNPAID: ReadonlySet<number> = new Set([400, 403, 412]);

const MAX_PARAM = 256;

export interface UpstreamErrorContext {
  readonly provider?: string | undefined;
  /** The result of `readRetryAfter`. Default: the wait in the failure itself. */
  readonly retryAfterMs?: number | undefined;
  /** See `ErrorDetails.limitHeaders`. */
  readonly limitHeaders?: Readonly<Record<string, string>> | undefined;
  /** The failure occurred inside a stream of events. */
  readonly inStream?: boolean | undefined;
  /** The result of `readShouldRetry`. */
  readonly shouldRetry?: boolean | undefined;
  /** The owner of the credentials that were sent: the caller's own token, or those of the catalog entry. */
  readonly credentials?: 'caller' | 'entry' | undefined;
  /** The path of the request. Without it, the message keeps the account that it names. */
  readonly path?: string | undefined;
  /** The credentials that were sent, which are removed from messages that quote them. */
  readonly secrets?: readonly string[] | undefined;
}

/**
 * Keeps the upstream's status, so that `on_status_codes` matches: a 529 stays a 529. The client's format chooses the
 * status for its clients (docs/protocols/errors.md#overload).
 */
export function toUpstreamError(failure: UpstreamFailure, context: UpstreamErrorContext = {}): UpstreamError {
  const own = failure.kind === undefined ? undefined : CODE_BY_OWN_KIND.get(failure.kind);
  const upstreamStatus = errorStatusOf(failure);
  const code = own ?? codeOf(failure, upstreamStatus);
  const status = code === 'insufficient_quota' && UNPAID.has(upstreamStatus) ? 402 : upstreamStatus;
  const retryAfterMs = context.retryAfterMs ?? bounded(failure.retryAfterMs);
  const reported = (text: string): string => withoutSecrets(text, context.secrets ?? []);
  if (code === 'invalid_api_key' && context.credentials === 'entry') return credentialsRefused(failure, context);
  const message = shown(reported(withoutPage(failure.message) || `The upstream answered HTTP ${status}.`), context);
  return new UpstreamError(code, message, {
    status,
    ...(failure.param !== undefined && { param: reported(failure.param).slice(0, MAX_PARAM) }),
    ...(failure.kind !== undefined && own === undefined && { upstreamKind: reported(failure.kind) }),
    ...(own === undefined && { upstreamReport: reportOf(failure, code, reported) }),
    ...detailsOf(failure, (text) => shown(reported(text), context)),
    ...upstreamCodeOf(failure, code, reported),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(context.limitHeaders && { limitHeaders: context.limitHeaders }),
    ...(context.shouldRetry !== undefined && { shouldRetry: context.shouldRetry }),
    ...(context.inStream && { inStream: true }),
    ...(context.credentials === 'caller' && { toCallersToken: true }),
    ...(context.provider !== undefined && { provider: context.provider }),
  });
}

const upstreamCodeOf = ({ code: own }: UpstreamFailure, code: ErrorCode, reported: (text: string) => string) =>
  own !== undefined && !DECISIVE.has(code) && OPENAI_WORD.test(reported(own)) && { upstreamCode: own };

const detailsOf = ({ details }: UpstreamFailure, shownText: (text: string) => string) =>
  details && { upstreamDetails: details.map((object) => mapObject(object, shownText)) };

/** The report for the operator keeps the account. */
const shown = (message: string, { credentials, path }: UpstreamErrorContext): string =>
  credentials === 'entry' && path !== undefined ? withoutAccount(message, path) : message;

/** Without the upstream's message: providers quote the key that they refuse, or its ends. */
function credentialsRefused(failure: UpstreamFailure, context: UpstreamErrorContext): UpstreamError {
  const { provider, inStream, shouldRetry, secrets = [] } = context;
  const entry = provider === undefined ? 'the catalog entry' : `the catalog entry @${provider}`;
  return new UpstreamError('upstream_credentials_refused', `The upstream refused the credentials of ${entry} (401).`, {
    ...(failure.kind !== undefined && { upstreamKind: withoutSecrets(failure.kind, secrets) }),
    upstreamReport: reportOf(failure, 'invalid_api_key', (text) => withoutSecrets(text, secrets)),
    ...(shouldRetry !== undefined && { shouldRetry }),
    ...(inStream && { inStream }),
    ...(provider !== undefined && { provider }),
  });
}

/** As the upstream reported it. A refusal of credentials has no message: providers quote the ends of the key. */
const reportOf = (
  { message, param, code: ownCode }: UpstreamFailure,
  code: ErrorCode,
  reported: (text: string) => string,
): UpstreamReport => ({
  ...(message !== '' && code !== 'invalid_api_key' && { message: reported(message) }),
  ...(param !== undefined && { param: reported(param) }),
  ...(ownCode !== undefined && { code: reported(ownCode) }),
});

/** Upper limit for waits: a larger value of an upstream would not fit into a header. */
const MAX_WAIT_MS = 366 * 24 * 3600 * 1000;

const bounded = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.min(ms, MAX_WAIT_MS);

/** Shorter ones are the dummy keys of local servers (`none`, `test`, `EMPTY`), which are words of ordinary messages. */
const SHORTEST_SECRET = 8;

export const withoutSecrets = (message: string, secrets: readonly string[]): string =>
  secrets.reduce(
    (text, secret) => (secret.length < SHORTEST_SECRET ? text : text.replaceAll(secret, '[secret]')),
    message,
  );

function errorStatusOf({ status, kind }: UpstreamFailure): number {
  if (status >= 400 && status <= 599) return status;
  return (kind === undefined ? undefined : STATUS_BY_KIND.get(kind)) ?? 502;
}

/** 408 and 499 mean that the upstream's side gave up, not that the request is wrong: a retry may succeed. */
function codeOf(failure: UpstreamFailure, status: number): ErrorCode {
  const gaveUp = status >= 500 || status === 408 || status === 499;
  const ofClass = gaveUp ? 'upstream_error' : 'upstream_rejected';
  return codeOfWording(failure, status) ?? CODE_BY_STATUS.get(status) ?? ofClass;
}

/**
 * In milliseconds: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date (RFC 9110, 10.2.3), else the wait
 * in the body (docs/protocols/errors.md#retry-info). An invalid value counts as absent. @param nowWall since 1970, for
 * dates
 */
export const readRetryAfter = (
  headers: Readonly<Record<string, string>>,
  failure: UpstreamFailure | undefined,
  nowWall: number,
): number | undefined =>
  bounded(
    readNumber(headers['retry-after-ms'], 1) ??
      readSecondsOrDate(headers['retry-after'], nowWall) ??
      failure?.retryAfterMs,
  );

/** The header by which OpenAI and Anthropic override their SDKs' retry rules for statuses. */
export function readShouldRetry(headers: Readonly<Record<string, string>>): boolean | undefined {
  const value = headers['x-should-retry'];
  return value === 'true' || value === 'false' ? value === 'true' : undefined;
}

function readSecondsOrDate(value: string | undefined, nowWall: number): number | undefined {
  const seconds = readNumber(value, 1000);
  if (seconds !== undefined || value === undefined) return seconds;
  // `Date.parse` also accepts other text (`5`, `-3`); all three date forms of RFC 9110 begin with the name of a day.
  const at = /^[A-Z][a-z]{2}/.test(value.trim()) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowWall);
}

function readNumber(value: string | undefined, unit: number): number | undefined {
  const text = value?.trim() ?? '';
  return /^\d+(?:\.\d+)?$/.test(text) ? Math.ceil(Number(text) * unit) : undefined;
}

/** Every text inside the object, keys apart, replaced. */
const mapObject = (object: JsonObject, replace: (text: string) => string): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, mapValue(value, replace)]));

function mapValue(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapValue(item, replace));
  return isObject(value) ? mapObject(value, replace) : value;
}
