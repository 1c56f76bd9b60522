import type { BodyView, ClientAsked, ClientOptions } from '../format.ts';
import { isObject } from '../json/object.ts';

/**
 * The compliance header concerns OpenAI's fields, which a reply of this API does not have. The header is accepted, for
 * clients that set it on every request, and changes nothing. Whether thoughts are requested, which the header decides
 * there, is a field of the body here.
 */
export function readClient(body: BodyView, { id }: ClientAsked): ClientOptions {
  const strict = !asksForThinking(body);
  return { id: `msg_${id}`, strict, hideThoughts: strict, ownId: true, includeUsage: false };
}

/**
 * True for both types that turn thinking on. `display: omitted` requests thinking that the reply does not show
 * (docs/protocols/anthropic-messages.md#thinking).
 */
function asksForThinking(body: BodyView): boolean {
  const thinking = body.has('thinking') ? body.value('thinking') : undefined;
  if (!isObject(thinking) || thinking['display'] === 'omitted') return false;
  return thinking['type'] === 'enabled' || thinking['type'] === 'adaptive';
}
