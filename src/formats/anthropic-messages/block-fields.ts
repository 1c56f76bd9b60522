import type { JsonObject, OpaquePart, Part } from '../conversation.ts';
import { objectOf, rest } from '../json/object.ts';

/** Fields of blocks that their parts have a place for. Lists that are made once: every block of every request is compared with one. */
const OF_ALL = ['type', 'cache_control'];
export const KNOWN = {
  text: [...OF_ALL, 'text'],
  citedText: [...OF_ALL, 'text', 'citations'],
  result: [...OF_ALL, 'tool_use_id', 'content', 'is_error'],
  call: [...OF_ALL, 'id', 'name', 'input'],
  media: [...OF_ALL, 'source'],
  titledMedia: [...OF_ALL, 'source', 'title'],
} as const;

/**
 * Fields of a content block the neutral part has no place for (citations of a text, the context of a document, the caller
 * of a tool use) travel in an opaque part attached to it: the block's type and those fields, in this format's own words. So
 * whoever shows both (`content_blocks` of the OpenAI API) makes the block that can be sent back as it is. Another format drops
 * it, as a loss, and keeps the part.
 */
export function fieldsOf(block: JsonObject, known: readonly string[]): JsonObject | undefined {
  return rest(block, known, { type: block.type });
}

/** `direct` is the default: a call without a caller means the same (docs/protocols/anthropic-messages.md#reply). */
export function withoutDirectCaller(block: JsonObject): JsonObject {
  return objectOf(block.caller)?.type === 'direct' ? { ...block, caller: undefined } : block;
}

export function opaque(value: JsonObject, attached = false): OpaquePart {
  return { type: 'opaque', format: 'anthropic-messages', value, ...(attached && { attached }) };
}

/** Values without a type are no blocks but fields of a whole reply (container, context management): not for sending back. */
export function isReplyFields(value: JsonObject): boolean {
  return typeof value.type !== 'string';
}

export function isOwnOpaque(part: Part): part is OpaquePart & { readonly format: 'anthropic-messages' } {
  return part.type === 'opaque' && part.format === 'anthropic-messages';
}

/** The block with the fields that came from it; undefined when `block` is not that one. */
export function attach(fields: JsonObject, block: JsonObject | undefined): JsonObject | undefined {
  return block && block.type === fields.type ? { ...block, ...fields } : undefined;
}
