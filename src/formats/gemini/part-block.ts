import type { JsonObject } from '../conversation.ts';
import { objectOf } from '../json/object.ts';

/**
 * A part of an answer that no other API has a form for (`fileData`, and parts that Google adds later). With a `type` of its own it stands
 * among the `content_blocks` of clients that are not strict (docs/protocols/replies.md#content-blocks), who may send it back; without one
 * it would read as a note on the whole answer.
 */
const TYPE = 'gemini_part';

export function toPartBlock(part: unknown): JsonObject {
  return { type: TYPE, part };
}

export function isPartBlock(value: JsonObject): boolean {
  return value['type'] === TYPE;
}

/** The part again; undefined for what is no such block, and for what could not be read as a part to begin with. */
export function fromPartBlock(value: JsonObject): JsonObject | undefined {
  const part = isPartBlock(value) ? objectOf(value['part']) : undefined;
  // A call that came without its name was told as such a block, too; Google refuses it.
  return part && !('functionCall' in part) ? part : undefined;
}
