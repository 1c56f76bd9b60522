import type { JsonObject } from '../conversation.ts';
import type { UpstreamFailure } from '../events.ts';
import { isOutOfBudget, type ClientError, type ErrorReply } from '../client-error.ts';
import { detailOf, readDetails, writeDetails } from './error-details.ts';
import { retryDelayOf } from '../google-retry-info.ts';
import { asNumber, objectsOf, optional } from './wire.ts';
import { isObject } from '../json/object.ts';
import { parseJson, stringOf } from '../json/read.ts';

/** Google's status words (docs/protocols/errors.md#google-errors). The gateway writes the first word of a status. */
const STATUSES: readonly (readonly [number, ...string[]])[] = [
  [400, 'INVALID_ARGUMENT', 'FAILED_PRECONDITION', 'OUT_OF_RANGE'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED', 'ALREADY_EXISTS'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL', 'UNKNOWN', 'DATA_LOSS'],
  [501, 'UNIMPLEMENTED'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
];

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
  const status = code !== undefined && code >= 400 && code <= 599 ? code : (statusOf(kind) ?? fallback);
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
  const kind = STATUSES.find(([status]) => status === failure.status)?.[1] ?? 'UNKNOWN';
  return { kind, ...failure };
}

function statusOf(kind: string | undefined): number | undefined {
  return STATUSES.find(([, ...kinds]) => kind !== undefined && kinds.includes(kind))?.[0];
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
  const kind = STATUSES.find(([known]) => known === status)?.[1] ?? nearestStatus(status);
  return { status, body: { error: { code: status, message, status: kind, ...(details.length > 0 && { details }) } } };
}

function nearestStatus(status: number): string {
  if (status === 502) return 'UNAVAILABLE';
  return status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT';
}

export function encodeStreamError(error: ClientError): string {
  return `data: ${JSON.stringify(encodeError(error).body)}\r\n\r\n`;
}
