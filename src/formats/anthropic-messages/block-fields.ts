import type { JsonObject, OpaquePart, Part } from '../conversation.ts';
import { objectOf, rest, stringOf } from './json.ts';

/**
 * Fields of a content block the neutral part has no place for (citations of a text, the context of a document, the caller
 * of a tool use) travel in an opaque companion right behind their part. Another format drops the companion, as a loss, and
 * keeps the part; this one puts them together again.
 *
 * A companion of a tool use names the call: clients of the OpenAI API keep calls apart from content blocks.
 */
const COMPANION = 'block_fields';

export function companion(of: string, fields: JsonObject, id?: string): JsonObject {
  return { type: COMPANION, of, ...(id !== undefined && { id }), fields };
}

/** The companion of a wire block as a part, where the block has fields beyond `known`. */
export function companionOf(block: JsonObject, known: readonly string[]): OpaquePart | undefined {
  const fields = rest(block, ['type', 'cache_control', ...known]);
  if (!fields) return undefined;
  return opaque(companion(stringOf(block.type) ?? '', fields, stringOf(block.id)));
}

export function opaque(value: JsonObject): OpaquePart {
  return { type: 'opaque', format: 'anthropic-messages', value };
}

/** Values without a type are no blocks but fields of a whole reply (container, context management): not for sending back. */
export function isReplyFields(value: JsonObject): boolean {
  return typeof value.type !== 'string';
}

export function isCompanion(value: JsonObject): boolean {
  return value.type === COMPANION;
}

export function isOwnOpaque(part: Part): part is OpaquePart & { readonly format: 'anthropic-messages' } {
  return part.type === 'opaque' && part.format === 'anthropic-messages';
}

/** Puts a companion's fields on the block at `at`; false when that is not the block they came from. */
export function attach(value: JsonObject, blocks: JsonObject[], at: number): boolean {
  const fields = objectOf(value.fields);
  const block = blocks[at];
  if (!block || !fields || block.type !== value.of) return false;
  blocks[at] = { ...block, ...fields };
  return true;
}
