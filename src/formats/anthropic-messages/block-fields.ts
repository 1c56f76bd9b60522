import type { JsonObject, OpaquePart, Part } from '../conversation.ts';
import { objectOf, rest } from '../json/object.ts';

/** Block fields with a place in neutral parts. Constants: every block of a request is compared with a list. */
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
 * Fields of a content block without a neutral place (citations of a text, the context of a document, the caller of a
 * tool use). They travel in an opaque part attached to the neutral part: the block's type and those fields, in this
 * format. An API that shows both parts (`content_blocks` of the OpenAI API) rebuilds the block, which can then be sent
 * back unchanged. Another format keeps the neutral part and reports the fields as a loss.
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

/** Without a type, a value is fields of a whole reply (container, context management), which are not sent back. */
export function isReplyFields(value: JsonObject): boolean {
  return typeof value.type !== 'string';
}

export function isOwnOpaque(part: Part): part is OpaquePart & { readonly format: 'anthropic-messages' } {
  return part.type === 'opaque' && part.format === 'anthropic-messages';
}

/** The block joined with the fields that were taken from it; undefined when `block` is another one. */
export function attach(fields: JsonObject, block: JsonObject | undefined): JsonObject | undefined {
  return block && block.type === fields.type ? { ...block, ...fields } : undefined;
}
