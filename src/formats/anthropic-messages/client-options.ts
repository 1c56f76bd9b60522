import type { BodyView, ClientAsked, ClientOptions } from '../format.ts';
import { isObject } from '../json/object.ts';

/**
 * The compliance header is about OpenAI's fields, and a reply of this API has none: it is accepted, for clients that set it on
 * everything, and changes nothing. What the switch does there, asking for thoughts or not, is said in the body here.
 */
export function readClient(body: BodyView, { id }: ClientAsked): ClientOptions {
  const strict = !asksForThinking(body);
  return { id: `msg_${id}`, strict, hideThoughts: strict, ownId: true, includeUsage: false };
}

/**
 * Both types that turn thinking on; `display: omitted` asks for thinking that the reply does not show
 * (docs/protocols/anthropic-messages.md#thinking).
 */
function asksForThinking(body: BodyView): boolean {
  const thinking = body.has('thinking') ? body.value('thinking') : undefined;
  if (!isObject(thinking) || thinking['display'] === 'omitted') return false;
  return thinking['type'] === 'enabled' || thinking['type'] === 'adaptive';
}
