import type { JsonObject } from '../conversation.ts';
import { toDataUri } from '../media/media-types.ts';
import { optional } from './wire.ts';
import { objectOf } from '../json/object.ts';
import { stringOf } from '../json/read.ts';

/**
 * Media inside a thought: drafts of the final image. They are thinking and not the answer, so clients that are not
 * strict get them with the thinking (docs/protocols/replies.md#content-blocks), as a `thinking` block with an image.
 * Every reader of `content_blocks` knows that type, this gateway included: a block that comes back is a thought without
 * text, and its signature is sent on (docs/protocols/requests.md#thoughts-to-gemini).
 */
export function toThoughtBlock(mime: string, data: string, signature: string | undefined): JsonObject {
  const image_url = { url: toDataUri(mime, data) };
  return { type: 'thinking', thinking: '', image_url, ...optional('signature', signature) };
}

/** Returns the part that such a block was made of. Undefined for any other opaque value. */
export function fromThoughtBlock(block: JsonObject): JsonObject | undefined {
  const url = stringOf(objectOf(block['image_url'])?.['url']);
  if (block['type'] !== 'thinking' || !url?.startsWith(SCHEME)) return undefined;
  const mark = url.indexOf(MARK);
  const inlineData = { mimeType: url.slice(SCHEME.length, mark), data: url.slice(mark + MARK.length) };
  return { inlineData, thought: true, ...optional('thoughtSignature', stringOf(block['signature'])) };
}

const SCHEME = 'data:';
const MARK = ';base64,';
