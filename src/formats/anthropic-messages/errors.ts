import type { JsonObject } from '../conversation.ts';
import { SEARCHED, type UpstreamFailure } from '../events.ts';
import { isOutOfBudget, type ClientError, type ErrorReply } from '../client-error.ts';
import { retryDelayOf, STATUS_BY_GOOGLE } from '../google-errors.ts';
import { compact, isObject, objectOf, numberOf, parseJson, stringOf } from '../json/object.ts';

/** Types with one status each (docs/protocols/errors.md#anthropic-errors). Other 4xx are `invalid_request_error`. */
export const STATUS_BY_TYPE: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/** As much of a front end's HTML page is kept (docs/protocols/errors.md#bodies-that-are-not-json). */
const MAX_RAW_MESSAGE = 1024;

/** A reply that is not 2xx. The HTTP status is the upstream's own and is kept. */
export function decodeError(status: number, text: string): UpstreamFailure {
  const body = parseJson(text);
  const failure = failureOf(Array.isArray(body) ? body[0] : body);
  if (failure) return { ...failure, status };
  const raw = text.trim().slice(0, MAX_RAW_MESSAGE);
  return { status, message: raw || `The upstream answered HTTP ${status} without a message.` };
}

/**
 * An error object, inside a stream or as a body: Anthropic's, Google's, or the plainer shapes of proxies in between.
 * Undefined when it holds no message. The status is that of the error's type.
 */
export function failureOf(body: unknown): UpstreamFailure | undefined {
  if (!isObject(body)) return undefined;
  const error = body.error;
  // OAuth's shape, which a refused Google token produces: the code in `error`, the sentence in `error_description`.
  if (typeof error === 'string' && error !== '')
    return { status: 500, message: stringOf(body.error_description) || error };
  const inner = objectOf(error) ?? body;
  const message = stringOf(inner.message);
  const kind = stringOf(inner.type) ?? stringOf(inner.status);
  if (!message && (!kind || !isObject(error))) return undefined;
  return compact({
    status: statusOf(kind, inner),
    message: message || `The upstream reported ${kind}.`,
    kind: kind || undefined,
    code: stringOf(objectOf(inner.details)?.error_code) || undefined,
    retryAfterMs: retryDelayOf(inner.details),
  });
}

/** Google answers for Claude on Vertex AI: credentials, quota (docs/protocols/errors.md#google-errors). */
function statusOf(kind: string | undefined, error: JsonObject): number {
  const named = kind === undefined ? undefined : (STATUS_BY_TYPE.get(kind) ?? STATUS_BY_GOOGLE.get(kind));
  const code = numberOf(error.code);
  return named ?? (code !== undefined && code >= 400 && code < 600 ? code : 500);
}

export function interrupted(): UpstreamFailure {
  return {
    status: 502,
    message: 'The upstream closed the stream before it was complete.',
    kind: 'stream_interrupted',
  };
}

export function unreadable(what: string): UpstreamFailure {
  return { status: 502, message: `The upstream sent ${what}.`, kind: 'unreadable_reply' };
}

const FULL_CONTEXT = 'context_length_exceeded';
const THREAD_REFUSED = 'thread_unsupported_request';

/** An error body (docs/protocols/errors.md#anthropic-errors). Clients quote `request_id`, the gateway's own. */
export function encodeError(error: ClientError): ErrorReply {
  const details = {
    ...(error.code !== null && { error_code: error.code }),
    ...(error.param && { param: error.param }),
    // The API lists the fields here, and SDKs send the request again without them.
    ...(error.code === THREAD_REFUSED && error.param && { unsupported: [error.param] }),
  };
  const body = {
    type: 'error',
    error: {
      type: typeOfCode(error) ?? clientType(error),
      message: error.code === FULL_CONTEXT ? fullContextMessage(error.message) : error.message,
      ...(Object.keys(details).length > 0 && { details }),
    },
    request_id: error.requestId,
  };
  return { status: clientStatus(error), body };
}

/**
 * An overloaded upstream is 529 on this API, whatever the upstream's own status was (docs/protocols/errors.md#overload). A model
 * that the key may not use is 400, as the contract between Claude Code and gateways says: 403 is for the whole account
 * (docs/protocols/errors.md#denied-model).
 */
function clientStatus(error: ClientError): number {
  if (isOverload(error)) return 529;
  return error.code === DENIED_MODEL ? 400 : error.status;
}

const DENIED_MODEL = 'model_not_allowed';

/** Types of the contract between Claude Code and gateways (docs/protocols/claude-code.md#refusals). */
function typeOfCode(error: ClientError): string | undefined {
  const { code, status } = error;
  if (code === DENIED_MODEL) return 'invalid_request_error';
  if (isOutOfBudget(error)) return 'billing_error';
  return code === 'not_supported' && status === 501 ? 'not_supported' : undefined;
}

function isOverload({ status, type, code }: ClientError): boolean {
  return status === 503 && (code === 'overloaded' || type === 'overloaded_error');
}

export function encodeStreamError(error: ClientError): string {
  return `event: error\ndata: ${JSON.stringify(encodeError(error).body)}\n\n`;
}

/**
 * SDKs read `error.type` only if it is one of Anthropic's: for a type of another API, the status selects the
 * replacement. `invalid_request_error` exists in both APIs, and OpenAI also uses it for 404, 409 and 413
 * (docs/protocols/errors.md#types-for-claude-clients).
 */
function clientType({ type, status }: ClientError): string {
  return STATUS_BY_TYPE.has(type) && type !== 'invalid_request_error' ? type : typeOf(status);
}

function typeOf(status: number): string {
  for (const [type, known] of STATUS_BY_TYPE) if (known === status) return type;
  if (status === 503) return 'overloaded_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

/** Words of Anthropic's API for a full context. Claude Code and other clients compact the conversation on these alone. */
const KNOWN = /prompt is too long: \d+ tokens > \d+ maximum|input length and `max_tokens` exceed context limit/i;

const NUMBER = /\d(?:[\d,_]*\d)?/g;

/** The number beside a word for the limit, behind it or in front of it. */
const MAXIMUM =
  /\b(?:max(?:imum)?|context|limit|up to|only supports|allowed|<=|>)[^\d]{0,60}?(\d[\d,_]*)|(\d[\d,_]*) (?:tokens? )?max/i;

/** The message of a full context in Anthropic's words, with the upstream's numbers, and its own behind them. */
function fullContextMessage(message: string): string {
  if (KNOWN.test(message)) return message;
  const numbers = numbersIn(message.slice(0, SEARCHED));
  return `prompt is too long${numbers ? `: ${numbers.tokens} tokens > ${numbers.maximum} maximum` : ''}. ${message}`;
}

function numbersIn(text: string): { readonly tokens: number; readonly maximum: number } | undefined {
  const [, behind, before] = MAXIMUM.exec(text) ?? [];
  const maximum = valueOf(behind ?? before ?? '');
  const tokens = (text.match(NUMBER) ?? []).map(valueOf).find((value) => value > maximum);
  return tokens !== undefined && maximum > 0 && Number.isSafeInteger(tokens) ? { tokens, maximum } : undefined;
}

const valueOf = (digits: string): number => Number(digits.replaceAll(/[,_]/g, ''));
