import type { JsonObject, MediaPart, Part } from '../conversation.ts';
import { toDataUri } from '../media.ts';
import { compact } from './read.ts';

/**
 * The extensions a client gets when it is not strict (wire.md D9). Rule for `content_blocks`, the same in a stream and in a
 * plain reply: they are there when the answer holds something that `content` cannot say (thinking, a signature on text, code
 * that ran, a block of the provider), and then they hold all texts too; a plain text answer has none. Tool calls and media
 * are never among them: `tool_calls` and `content_parts` have those.
 */

/** The part as a block; undefined where it has no place among them. */
export function blockOf(part: Part): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      if (part.text === '' && !part.signature) return undefined;
      return compact({ type: part.type, text: part.text, signature: part.signature });
    case 'thinking':
      return compact({ type: part.type, thinking: part.text, signature: part.signature });
    case 'redacted_thinking':
      return { type: part.type, data: part.data };
    case 'code':
    case 'code_result':
      return { ...part };
    case 'opaque':
      return isBlock(part.value) ? part.value : undefined;
    default:
      return undefined;
  }
}

/** Opaque values with a `type` are content blocks; those without are notes on the whole answer (grounding metadata). */
export function isBlock(value: JsonObject): boolean {
  return typeof value.type === 'string';
}

function isSpecial(part: Part): boolean {
  if (part.type === 'text') return part.signature !== undefined;
  return part.type !== 'media' && blockOf(part) !== undefined;
}

export function contentBlocks(parts: readonly Part[]): JsonObject[] | undefined {
  if (!parts.some(isSpecial)) return undefined;
  return parts.map(blockOf).filter((block) => block !== undefined);
}

/** Sound has its own field in this API; every other kind of made media is a content part. */
export function isShown(part: Part): part is MediaPart {
  return part.type === 'media' && part.media !== 'audio';
}

export function contentParts(parts: readonly Part[]): JsonObject[] | undefined {
  if (!parts.some(isShown)) return undefined;
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    return isShown(part) && part.source.kind === 'data'
      ? [mediaItem(part.mime ?? '', part.source.data, part.signature)]
      : [];
  });
}

export function mediaItem(mime: string, data: string, signature: string | undefined): JsonObject {
  return compact({ type: 'image_url', image_url: { url: toDataUri(mime, data) }, signature });
}

/** Fields of a choice that a note on the answer must not overwrite. */
const CHOICE_FIELDS: ReadonlySet<string> = new Set([
  'index',
  'message',
  'delta',
  'logprobs',
  'finish_reason',
  'native_finish_reason',
]);

/** Notes on the whole answer become fields of the choice: `groundingMetadata`, `safetyRatings` (wire.md D9). */
export function choiceNotes(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !CHOICE_FIELDS.has(key)));
}
