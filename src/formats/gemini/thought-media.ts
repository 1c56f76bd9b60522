import type { JsonObject } from '../conversation.ts';
import { toDataUri } from '../media/media-types.ts';
import { optional } from './wire.ts';
import { objectOf } from '../json/object.ts';
import { stringOf } from '../json/read.ts';

/**
 * Media inside a thought: drafts of the picture to come. They are thinking and no answer, so they are shown where thinking is,
 * to clients that are not strict (wire.md D9), as a `thinking` block with a picture. That type is what every reader of
 * `content_blocks` knows, this gateway's too: sent back, the block is a thought without words whose signature goes on (D2.4).
 */
export function toThoughtBlock(mime: string, data: string, signature: string | undefined): JsonObject {
  const image_url = { url: toDataUri(mime, data) };
  return { type: 'thinking', thinking: '', image_url, ...optional('signature', signature) };
}

/** Such a block as the part it was made of; undefined for any other opaque value. */
export function fromThoughtBlock(block: JsonObject): JsonObject | undefined {
  const url = stringOf(objectOf(block['image_url'])?.['url']);
  if (block['type'] !== 'thinking' || !url?.startsWith(SCHEME)) return undefined;
  const mark = url.indexOf(MARK);
  const inlineData = { mimeType: url.slice(SCHEME.length, mark), data: url.slice(mark + MARK.length) };
  return { inlineData, thought: true, ...optional('thoughtSignature', stringOf(block['signature'])) };
}

const SCHEME = 'data:';
const MARK = ';base64,';
