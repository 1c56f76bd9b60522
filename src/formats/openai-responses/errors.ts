import type { JsonObject } from '../conversation.ts';
import { brokenGeneration } from '../broken-generation.ts';
import type { UpstreamFailure } from '../events.ts';
import type { ClientError } from '../client-error.ts';
import { isObject, objectOf } from '../json/object.ts';
import { failureOfEvent, unreadable } from '../openai-chat/errors.ts';
import { responseObject } from './response-object.ts';

/**
 * Codes by which clients decide what to do about a failed response (docs/protocols/openai-responses.md#failures). A code of this list
 * stays; the status decides about any other.
 */
const CODES: ReadonlySet<string | null> = new Set([
  'context_length_exceeded',
  'insufficient_quota',
  'server_is_overloaded',
  'invalid_prompt',
  'rate_limit_exceeded',
  'server_error',
]);

function codeOf({ status, code }: ClientError): string {
  if (code !== null && CODES.has(code)) return code;
  if (status === 429) return 'rate_limit_exceeded';
  if (status === 503 || status === 529) return 'server_is_overloaded';
  return status >= 400 && status < 500 ? 'invalid_prompt' : 'server_error';
}

/** Later than every event before it. */
const LAST = 2_147_483_647;

/**
 * The two events with which OpenAI ends a response that failed. Codex reads the second one alone; LangChain and the OpenAI SDK's raw
 * stream read the first one alone (docs/protocols/openai-responses.md#failures). The id is that of the response under way (client.ts).
 */
export function encodeStreamError(error: ClientError): string {
  const { type, message, param } = error;
  const code = codeOf(error);
  const response = responseObject({
    id: `resp_${error.replyId ?? error.requestId.replaceAll('-', '')}`,
    created: 0,
    status: 'failed',
    model: '',
    echoed: {},
    error: { code, message },
  });
  // OpenAI documents the flat form and sends the nested one: clients read either.
  const fields = { code, message, param, error: { type, code, message, param } };
  return (
    eventOf({ type: 'error', sequence_number: LAST - 1, ...fields }) +
    eventOf({ type: 'response.failed', sequence_number: LAST, response })
  );
}

const eventOf = (event: { readonly type: string } & JsonObject): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** The failure in a response that failed, or in an event: the API's own shapes and those of chat completions. */
export function failureIn(value: unknown, event?: string): UpstreamFailure | undefined {
  if (!isObject(value)) return failureOfEvent(event, value);
  if (value.status === 'failed') return failureOfEvent('error', failed(value));
  // A reply in the background, `queued` or `in_progress`, has not ended.
  const broken = brokenGeneration(value.status) ?? brokenGeneration(objectOf(value.incomplete_details)?.reason);
  if (broken) return broken;
  if (value.type === 'error') return failureOfEvent('error', isObject(value.error) ? value : { error: value });
  return failureOfEvent(event, value);
}

function failed({ error }: JsonObject): unknown {
  return isObject(error) ? { error } : undefined;
}

const CUT_SHORT = 'The upstream ended the stream before the response was complete.';

export function interrupted(): UpstreamFailure {
  return { status: 502, message: CUT_SHORT, kind: 'stream_interrupted' };
}

export { unreadable };
