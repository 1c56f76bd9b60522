import type { JsonObject } from '../conversation.ts';
import { objectOf } from '../json/object.ts';

/**
 * A part of an answer that no other API has a form for (`fileData`, and parts that Google adds later). Its `type` makes
 * it one of the `content_blocks` of clients that are not strict (docs/protocols/replies.md#content-blocks), which may
 * send it back. Without a `type` it would be a note on the whole answer.
 */
const TYPE = 'gemini_part';

export function toPartBlock(part: unknown): JsonObject {
  return { type: TYPE, part };
}

export function isPartBlock(value: JsonObject): boolean {
  return value['type'] === TYPE;
}

/** Returns the original part. Undefined for any other block, and for a part that was unreadable in the reply. */
export function fromPartBlock(value: JsonObject): JsonObject | undefined {
  const part = isPartBlock(value) ? objectOf(value['part']) : undefined;
  // A call without a name becomes such a block too, and Google refuses it.
  return part && !('functionCall' in part) ? part : undefined;
}
