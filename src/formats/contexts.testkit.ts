/** Test support for every format: both ends of a request, and calls of a format that take their values whole. */
import type { Conversation, JsonObject } from './conversation.ts';
import type { ClientContext, EncodedRequest, Format, ReplyContext } from './format.ts';
import type { RequestTarget } from './request-target.ts';
import { finish } from './steps.ts';

/** Call ids in a fixed sequence, in the shape of real ones (`call_` and 24 of `[a-z0-9]`). */
export function replyContext(overrides: Partial<ReplyContext> = {}): ReplyContext {
  let count = 0;
  return { model: 'model-asked', newCallId: () => `call_${String(count++).padStart(24, 'x')}`, ...overrides };
}

export function clientContext(overrides: Partial<ClientContext> = {}): ClientContext {
  return {
    id: 'chatcmpl-test',
    created: 1_795_132_800,
    strict: true,
    includeUsage: true,
    model: 'model-asked',
    ...overrides,
  };
}

export function requestTarget(overrides: Partial<RequestTarget> = {}): RequestTarget {
  return { model: 'model-asked', host: 'direct', strict: true, ...overrides };
}

/** The request of a format, without its steps. */
export const encodeWith = (
  { encodeRequest }: Pick<Format, 'encodeRequest'>,
  conversation: Conversation,
  target: RequestTarget,
  reply: ReplyContext = replyContext(),
): EncodedRequest => finish(encodeRequest(conversation, target, reply));

/** The plain reply of a format, parsed. */
export const replyWith = (
  { encodeReply }: Pick<Format, 'encodeReply'>,
  ...given: Parameters<Format['encodeReply']>
): JsonObject => JSON.parse(encodeReply(...given).toString()) as JsonObject;

/** Law 7: run an encoder on a frozen input; a write throws (modules are strict code). */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
