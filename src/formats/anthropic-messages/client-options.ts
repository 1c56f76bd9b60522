import type { BodyView, ClientAsked, ClientWishes } from '../format.ts';
import { isObject } from '../json/object.ts';

/**
 * The compliance header is about OpenAI's fields, and a reply of this API has none: it is accepted, for clients that set it on
 * everything, and changes nothing. What the switch does there, asking for thoughts or not, is said in the body here.
 */
export function readClient(body: BodyView, { id }: ClientAsked): ClientWishes {
  const strict = !asksForThinking(body);
  return { id: `msg_${id}`, strict, hideThoughts: strict, ownId: true, includeUsage: false };
}

/** wire.md B2: both ways to switch it on; `display: omitted` asks for thinking that is not shown. */
function asksForThinking(body: BodyView): boolean {
  const thinking = body.has('thinking') ? body.value('thinking') : undefined;
  if (!isObject(thinking) || thinking['display'] === 'omitted') return false;
  return thinking['type'] === 'enabled' || thinking['type'] === 'adaptive';
}
