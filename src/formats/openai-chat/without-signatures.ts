import type { JsonObject } from '../conversation.ts';
import type { BodyView, Cleaning } from '../body-view.ts';
import { isObject, listOf } from '../json/object.ts';
import { LossReport } from '../losses/losses.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';

/** Fields of a message and of a call in which servers take signatures (docs/protocols/replies.md#thought-signatures). */
const OF_MESSAGE = ['content_blocks', 'reasoning_details'];
const OF_CALL = ['extra_content', 'thought_signature', 'maker'];

/**
 * Removes the extensions that carry signatures, for a server that passes them on to their maker: another gateway, or
 * Google's endpoint of this API. The content of `content_blocks` is in `content` too.
 */
export function withoutSignatures(body: BodyView): Cleaning | undefined {
  const messages = listOf(body.value('messages'));
  if (!messages) return undefined;
  const losses = new LossReport();
  const kept = messages.map((message, at) => {
    const bare = isObject(message) && message.role === 'assistant' ? withoutFields(message) : message;
    if (bare !== message) losses.dropped(`messages[${at}]`, REFUSED_SIGNATURE);
    return bare;
  });
  const list = losses.list();
  return list.length === 0
    ? undefined
    : { edits: [{ path: ['messages'], value: kept, source: 'gateway' }], losses: list };
}

/** Returns the same message when it carries no signature. */
function withoutFields(message: JsonObject): JsonObject {
  const bare = without(message, OF_MESSAGE);
  const calls = listOf(message.tool_calls);
  const kept = calls?.map((call) => (isObject(call) ? bareCall(call) : call));
  return kept?.some((call, at) => call !== calls?.[at]) ? { ...bare, tool_calls: kept } : bare;
}

function bareCall(call: JsonObject): JsonObject {
  let bare = without(call, OF_CALL);
  for (const kind of ['function', 'custom']) {
    const inner = call[kind];
    const kept = isObject(inner) ? without(inner, OF_CALL) : inner;
    if (kept !== inner) bare = { ...bare, [kind]: kept };
  }
  return bare;
}

function without(object: JsonObject, fields: readonly string[]): JsonObject {
  if (!fields.some((field) => object[field] !== undefined)) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !fields.includes(name)));
}
