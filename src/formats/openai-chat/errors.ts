import type { JsonObject } from '../conversation.ts';
import type { UpstreamFailure } from '../events.ts';
import { isOutOfBudget, type ClientError, type ErrorReply } from '../client-error.ts';
import { textOf } from '../sse/stream-start.ts';
import { compact, isObject, parseJson, stringOf } from '../json/object.ts';
import { brokenGeneration } from '../broken-generation.ts';
import { retryDelayOf } from '../google-errors.ts';

/** Longest shown piece of a body without an error shape (docs/protocols/errors.md#bodies-that-are-not-json). */
const RAW_LIMIT = 1024;

/**
 * The error body of OpenAI's API always has all four keys (docs/protocols/errors.md#openai-errors). 529 is Anthropic's
 * own status and becomes 503 (docs/protocols/errors.md#overload). SDKs and agents know an exhausted budget as `insufficient_quota`.
 */
export function encodeError(error: ClientError): ErrorReply {
  const { status, message, type, param, code, limit } = error;
  const kind = limit ? ofLimit(limit) : { type, code: isOutOfBudget(error) ? 'insufficient_quota' : code };
  return {
    status: status === 529 ? 503 : status,
    body: { error: { message, type: kind.type, param, code: kind.code } },
  };
}

/** The API's own words for a limit of rates (docs/protocols/errors.md#rate-limits). It has no limit of concurrency. */
const ofLimit = ({ counts }: NonNullable<ClientError['limit']>) => ({
  type: counts === 'tokens' ? 'tokens' : 'requests',
  code: 'rate_limit_exceeded',
});

/** SDKs throw on a truthy top-level `error`; nothing follows it (docs/protocols/openai-chat.md#stream-errors). */
export function encodeStreamError(error: ClientError): string {
  return `data: ${JSON.stringify(encodeError(error).body)}\n\n`;
}

/** Decodes a reply that is not 2xx, with any body. The message is the upstream's own, unchanged, and never empty. */
export function decodeError(status: number, text: string): UpstreamFailure {
  const failure = failureIn(parseJson(text), status);
  return failure ?? { status, message: rawMessage(text) || `The upstream answered ${status} without a message.` };
}

/** A proxy's HTML page, plain text or unknown JSON is shown unchanged, up to a limit, never cut inside a character. */
function rawMessage(text: string): string {
  return text
    .trim()
    .slice(0, RAW_LIMIT)
    .replace(/[\uD800-\uDBFF]$/, '');
}

/**
 * Reads the error shapes of OpenAI-compatible servers: `{error:{…}}`, `{error:"text"}`, `{message}`, `{detail}`, and
 * Google's array of one (docs/protocols/errors.md#array-of-one). Without a `status`, the error came inside a 200, and
 * its code or type decides the status.
 */
function failureIn(body: unknown, status?: number): UpstreamFailure | undefined {
  // One level only: deeper nesting is not an error shape, and following it could exhaust the stack.
  const shape: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(shape)) return undefined;
  const { error } = shape;
  if (isObject(error)) return fromObject(error, status);
  const message = stringOf(error) || stringOf(shape.message) || stringOf(shape.detail);
  return message ? fromObject({ ...shape, message }, status) : undefined;
}

function fromObject(error: JsonObject, given: number | undefined): UpstreamFailure {
  // Google puts the error kind into `status`, OpenAI into `type`.
  const kind = stringOf(error.type) || stringOf(error.status);
  const code = codeOf(error);
  const status = given ?? httpStatus(error.code) ?? statusOf(kind, code);
  return compact({
    status,
    message: stringOf(error.message) || kind || code || rawMessage(JSON.stringify(error)),
    kind: kind || undefined,
    code: code || undefined,
    param: stringOf(error.param) || undefined,
    retryAfterMs: retryDelayOf(error.details),
  });
}

/** Azure identifies a filtered request by the code of an inner error. */
function codeOf(error: JsonObject): string | undefined {
  const inner = error.innererror ?? error.inner_error;
  const code = stringOf(error.code);
  if (!isObject(inner) || inner.code !== 'ResponsibleAIPolicyViolation') return code;
  return code === 'content_policy_violation' ? code : 'content_filter';
}

/** vLLM and Google put the HTTP status into `code`. */
function httpStatus(code: unknown): number | undefined {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined;
}

/** The status of an error inside a stream (docs/protocols/errors.md#status-for-the-client). Unknown words are 502. */
const STATUS_BY_WORD: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['context_length_exceeded', 400],
  ['content_filter', 400],
  ['content_policy_violation', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['model_not_found', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['requests', 429],
  ['tokens', 429],
  ['RESOURCE_EXHAUSTED', 429],
  ['server_error', 500],
  ['api_error', 500],
  ['overloaded', 503],
  ['overloaded_error', 503],
  // Of the Responses API (docs/protocols/openai-responses.md#failures).
  ['server_is_overloaded', 503],
  ['service_unavailable', 503],
  ['UNAVAILABLE', 503],
  ['timeout', 504],
]);

function statusOf(kind: string | undefined, code: string | undefined): number {
  return STATUS_BY_WORD.get(code ?? '') ?? STATUS_BY_WORD.get(kind ?? '') ?? 502;
}

/**
 * Returns the failure in an event of a stream, or in a plain reply. SDKs read any truthy top-level `error` as one,
 * whatever its value (docs/protocols/openai-chat.md#stream-errors). Google wraps it into an array, some servers name the
 * event `error` instead, and vLLM and SGLang send the error itself as an object. A choice may report one too.
 */
export function failureOfEvent(event: string | undefined, payload: unknown): UpstreamFailure | undefined {
  const body: unknown = Array.isArray(payload) ? payload[0] : payload;
  const failed = event === 'error' || (isObject(body) && (Boolean(body.error) || body.object === 'error'));
  if (!failed) return isObject(body) ? failureOfChoices(body.choices) : undefined;
  return failureIn(payload) ?? unreadable('The upstream reported an error without a message.');
}

/** One broken answer of several is a broken reply: a client could not see which of them are whole. */
function failureOfChoices(choices: unknown): UpstreamFailure | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (let at = 0; at < choices.length; at += 1) {
    const choice: unknown = choices[at];
    if (!isObject(choice)) continue;
    const { error, finish_reason: reason } = choice;
    const failure = (error ? failureIn({ error }) : undefined) ?? brokenGeneration(reason);
    if (failure) return failure;
  }
  return undefined;
}

/** A JSON error in place of a stream. Google wraps it into an array (docs/protocols/errors.md#array-of-one). */
export function failureInStead(bytes: Buffer): UpstreamFailure | undefined {
  const body = parseJson(textOf(bytes));
  return typeof body === 'object' ? failureOfEvent(undefined, body) : undefined;
}

export const CUT_SHORT = 'The upstream ended the stream before it was complete.';
export const NO_ANSWER = 'The upstream ended the stream without an answer.';
export const UNFINISHED = 'The upstream ended the stream without a finish reason.';
export const GARBLED = 'The upstream sent an event that is not JSON.';

export function streamInterrupted(message: string): UpstreamFailure {
  return { status: 502, message, kind: 'stream_interrupted' };
}

export function unreadable(message: string): UpstreamFailure {
  return { status: 502, message, kind: 'unreadable_reply' };
}
