import type { JsonObject } from '../conversation.ts';
import type { UpstreamFailure } from '../events.ts';
import { isOutOfBudget, type ClientError, type ErrorReply } from '../client-error.ts';
import { GOOGLE_STATUSES, retryDelayOf, STATUS_BY_GOOGLE } from '../google-errors.ts';
import { asNumber, objectsOf, optional } from './wire.ts';
import { isObject, parseJson, stringOf } from '../json/object.ts';

/** Longest error text that is passed on when the body is not Google's JSON (front ends answer in HTML). */
const MAX_TEXT_BYTES = 1024;

/** A reply that is not 2xx. Before the stream it may be an array of one (docs/protocols/gemini.md#array-errors). */
export function decodeError(status: number, text: string): UpstreamFailure {
  const parsed = parseJson(text);
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isObject(body)) return { status, message: messageOr(cap(text.trim()), status) };
  const error = body['error'];
  if (isObject(error)) return { ...decodeFailure(error, status), status };
  // OAuth and gateway front ends: {"error":"invalid_grant","error_description":"…"}, {"message":"…"}.
  const message =
    stringOf(body['error_description']) ?? stringOf(body['message']) ?? stringOf(error) ?? cap(text.trim());
  return { status, message: messageOr(message, status), ...optional('kind', stringOf(error)) };
}

/** Decodes Google's error object, of a reply or inside a stream, where its own code is the only status. */
function decodeFailure(error: JsonObject, fallback = 502): UpstreamFailure {
  const kind = stringOf(error['status']);
  const code = asNumber(error['code']);
  const status =
    code !== undefined && code >= 400 && code <= 599 ? code : (STATUS_BY_GOOGLE.get(kind ?? '') ?? fallback);
  const details = objectsOf(error['details']);
  const violation = objectsOf(detailOf(details, 'BadRequest')?.['fieldViolations'])[0];
  return {
    status,
    message: messageOr(stringOf(error['message']) ?? '', status),
    ...optional('kind', kind),
    ...optional('code', stringOf(detailOf(details, 'ErrorInfo')?.['reason'])),
    ...optional('param', stringOf(violation?.['field'])),
    ...optional('retryAfterMs', retryDelayOf(details)),
    ...optional('details', readDetails(details)),
  };
}

/**
 * Decodes an error inside a 2xx reply, where its own status is the only one. The gateway takes a failure without a
 * status word for a broken stream, so a missing word is derived from the code.
 */
export function decodeInnerFailure(error: unknown): UpstreamFailure {
  const failure = isObject(error)
    ? decodeFailure(error)
    : { status: 502, message: messageOr(cap(stringOf(error) ?? JSON.stringify(error)), 502) };
  const kind = GOOGLE_STATUSES.find(([status]) => status === failure.status)?.[1] ?? 'UNKNOWN';
  return { kind, ...failure };
}

function messageOr(message: string, status: number): string {
  return message === '' ? `The upstream answered ${status} without a message.` : message;
}

/** Cuts by bytes, at a whole character. */
function cap(text: string): string {
  if (Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  return Buffer.from(text)
    .subarray(0, MAX_TEXT_BYTES)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
}

/** 529 is Anthropic's own. Google's status for an overload is 503 (docs/protocols/errors.md#overload). */
export function encodeError(error: ClientError): ErrorReply & { readonly body: JsonObject } {
  const { status: given, message } = error;
  const status = given === 529 ? 503 : given;
  const details = writeDetails(error, isOutOfBudget(error));
  const kind = GOOGLE_STATUSES.find(([known]) => known === status)?.[1] ?? nearestStatus(status);
  return { status, body: { error: { code: status, message, status: kind, ...(details.length > 0 && { details }) } } };
}

function nearestStatus(status: number): string {
  if (status === 502) return 'UNAVAILABLE';
  return status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT';
}

export function encodeStreamError(error: ClientError): string {
  return `data: ${JSON.stringify(encodeError(error).body)}\r\n\r\n`;
}

/** The details of Google's errors (docs/protocols/errors.md#google-errors). */
const TYPE_PREFIX = 'type.googleapis.com/google.rpc.';

type DetailName = 'BadRequest' | 'ErrorInfo' | 'QuotaFailure' | 'RetryInfo';

const detail = (name: DetailName, fields: JsonObject): JsonObject => ({ '@type': TYPE_PREFIX + name, ...fields });

const detailOf = (details: readonly JsonObject[], name: DetailName): JsonObject | undefined =>
  details.find((one) => stringOf(one['@type'])?.endsWith(`google.rpc.${name}`));

/** Others name the server's stack and the account's requests. */
const PASSED =
  /^type\.googleapis\.com\/google\.rpc\.(?:BadRequest|ErrorInfo|Help|LocalizedMessage|PreconditionFailure|QuotaFailure|RetryInfo)$/;

/** Keys of `metadata` in ErrorInfo that clients may see. Its other keys name the project in forms of their own (`consumer`, `containerInfo`). */
const METADATA: ReadonlySet<string> = new Set([
  'method',
  'model',
  'quota_limit',
  'quota_limit_value',
  'quota_location',
  'quota_metric',
  'quota_unit',
  'service',
]);

const MAX_DETAILS = 10;
const MAX_DEPTH = 8;
/** Characters of all keys and values. */
const MAX_SIZE = 8 * 1024;

/** The details that clients of Google's API may see; undefined: none, or too many. */
function readDetails(details: unknown): readonly JsonObject[] | undefined {
  const passed = objectsOf(details)
    .slice(0, MAX_DETAILS)
    .filter((one) => PASSED.test(stringOf(one['@type']) ?? ''))
    .map((one) => (one['metadata'] === undefined ? one : { ...one, metadata: metadataOf(one['metadata']) }));
  return passed.length > 0 && roomAfter(passed, MAX_SIZE, MAX_DEPTH) >= 0 ? passed : undefined;
}

/** The room that the value leaves; negative: the value is too large, or too deep for JSON.stringify. */
function roomAfter(value: unknown, room: number, depth: number): number {
  if (typeof value !== 'object' || value === null) return room - String(value).length;
  if (depth === 0) return -1;
  let left = room;
  for (const [key, inner] of Object.entries(value)) {
    left = roomAfter(inner, left - key.length - 1, depth - 1);
    if (left < 0) return left;
  }
  return left;
}

const metadataOf = (metadata: unknown): JsonObject =>
  Object.fromEntries(Object.entries(Object(metadata) as JsonObject).filter(([key]) => METADATA.has(key)));

/** Google's own details first: clients read the first one of a type. */
function writeDetails(error: ClientError, isOutOfBudget: boolean): readonly JsonObject[] {
  const { status, message, code, param, limit, retryAfterMs = limit?.retryAfterMs, upstreamDetails = [] } = error;
  const details = [...upstreamDetails];
  if (code !== null) details.push(detail('ErrorInfo', { reason: code, domain: 'gatehouse' }));
  if (param !== null && !detailOf(upstreamDetails, 'BadRequest'))
    details.push(detail('BadRequest', { fieldViolations: [{ field: param, description: message }] }));
  const subject = limit?.counts ?? (isOutOfBudget ? 'budget' : undefined);
  if (subject !== undefined) details.push(detail('QuotaFailure', { violations: [{ subject, description: message }] }));
  if (retryAfterMs !== undefined && WAITS.has(status) && !detailOf(upstreamDetails, 'RetryInfo'))
    details.push(detail('RetryInfo', { retryDelay: `${Math.ceil(retryAfterMs) / 1000}s` }));
  return details;
}

/** Statuses after which Google's clients wait (docs/protocols/errors.md#retry-info). */
const WAITS: ReadonlySet<number> = new Set([429, 503, 529]);
