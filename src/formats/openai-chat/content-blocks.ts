import type { JsonObject, MediaPart, OpaquePart, Part } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { toDataUri } from '../media/media-types.ts';
import { mcpBlock } from '../mcp-parts.ts';
import { lose, type LossNotes } from '../losses/reply-losses.ts';
import { absorb, setField } from '../json/object.ts';
import { tagOf, type Signed } from '../maker.ts';

/**
 * Reply extensions for clients that are not strict (docs/protocols/replies.md#reply-extensions). A stream and a plain
 * reply follow the same rule for `content_blocks`. They are present when the answer holds something that `content`
 * cannot express: thinking, a signature on text, executed code, a block of the provider, two adjacent texts. They then
 * hold all texts too. Tool calls and media are never among them: `tool_calls` and `content_parts` hold those.
 */

/** Returns the part as a block, or undefined when the part has no block form. */
function blockOf(part: Part): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      // Spoken text is the transcript of its audio.
      if (part.spoken || (part.text === '' && !part.signature)) return undefined;
      return { type: part.type, text: part.text, ...signatureFields(part) };
    case 'thinking':
      // Empty thoughts of an inline thinker prove nothing. Its other thoughts are in `content` too.
      if (part.inline && part.text === '') return undefined;
      return { type: part.type, thinking: part.text, ...signatureFields(part) };
    case 'redacted_thinking':
      return { type: part.type, data: part.data, ...tagOf(part) };
    case 'code':
    case 'code_result':
      return { ...part };
    case 'mcp_call':
    case 'mcp_result':
      return mcpBlock(part);
    case 'opaque':
      return isBlock(part.value) && !part.attached ? part.value : undefined;
    default:
      return undefined;
  }
}

/** Opaque values with a `type` are content blocks. Others are notes on the whole answer (grounding metadata). */
export function isBlock(value: JsonObject): boolean {
  return typeof value.type === 'string';
}

/** Block fields that the part cannot hold: the citations of a text. Calls are no blocks: theirs are not shown. */
export function attachedFields({ attached, value }: Pick<OpaquePart, 'attached' | 'value'>): JsonObject | undefined {
  if (!attached || value.type === 'tool_use') return undefined;
  // A rest pattern takes ten times as long (measured), and a block may have a hundred thousand fields.
  const fields: JsonObject = {};
  for (const key of Object.keys(value)) if (key !== 'type') setField(fields, key, value[key]);
  return fields;
}

function isSpecial(part: Part): boolean {
  if (part.type === 'text') return part.signature !== undefined;
  if (part.type === 'opaque' && part.attached) return part.value.type !== 'tool_use';
  return part.type !== 'media' && blockOf(part) !== undefined;
}

/**
 * True for two adjacent texts: `content` joins them without a boundary. Parts that are neither blocks nor shown media
 * separate no texts. Nor do calls: a reply that is read has its calls behind its texts, and must be written as it was.
 */
function hasNeighbours(parts: readonly Part[]): boolean {
  const placed = parts.filter((part) => blockOf(part) || isShown(part));
  return placed.some((part, at) => part.type === 'text' && placed[at + 1]?.type === 'text');
}

export function contentBlocks(parts: readonly Part[]): JsonObject[] | undefined {
  if (!parts.some(isSpecial) && !hasNeighbours(parts)) return undefined;
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    const fields = part.type === 'opaque' ? attachedFields(part) : undefined;
    const last = fields && blocks.pop();
    const block = last ? { ...last } : blockOf(part);
    if (last && fields) absorb(block!, fields);
    if (block) blocks.push(block);
  }
  return blocks;
}

/**
 * Reports the content that a strict client does not get. Thoughts and signatures are no loss: a strict client does not
 * request them (docs/protocols/replies.md#strict-replies).
 */
export function losePart(part: AnswerPart, notes: LossNotes): void {
  if (part.type === 'media') {
    if (part.media !== 'audio') lose(notes, part.media);
  } else if (part.type === 'code' || part.type === 'code_result') lose(notes, 'code');
  else if (part.type === 'mcp_call' || part.type === 'mcp_result') lose(notes, 'content_blocks');
  else if (part.type === 'opaque' && !part.attached && isBlock(part.value) && part.value.type !== 'thinking')
    lose(notes, 'content_blocks');
}

/** The fields of a part or an event that decide whether strict clients get it. */
type AnswerPart =
  | Pick<MediaPart, 'type' | 'media'>
  | Pick<OpaquePart, 'type' | 'attached' | 'value'>
  | { readonly type: Exclude<Part['type'] | GenerationEvent['type'], 'media' | 'opaque'> };

/** Between inline thoughts and the answer when both are one text (docs/protocols/replies.md#inline-thoughts). */
export const AFTER_THOUGHTS = '\r\n\r\n';

/** Text of `content`. For clients that are not strict, the thoughts of an inline thinker precede the answer. */
export function answerText(parts: readonly Part[], strict: boolean): string {
  let text = '';
  let thoughts = '';
  for (const part of parts) {
    if (part.type === 'text' && !part.spoken) text += part.text;
    else if (part.type === 'thinking' && part.inline && !strict) thoughts += part.text;
  }
  return thoughts === '' || text === '' ? thoughts + text : `${thoughts}${AFTER_THOUGHTS}${text}`;
}

/** Audio has its own field in this API. All other generated media are content parts. */
function isShown(part: Part): part is MediaPart {
  return part.type === 'media' && part.media !== 'audio';
}

export function contentParts(parts: readonly Part[]): JsonObject[] | undefined {
  if (!parts.some(isShown)) return undefined;
  return parts.flatMap((part): JsonObject[] => {
    if (part.type === 'text') return part.text === '' || part.spoken ? [] : [{ type: 'text', text: part.text }];
    return isShown(part) && part.source.kind === 'data' ? [mediaItem(part.mime ?? '', part.source.data, part)] : [];
  });
}

export function mediaItem(mime: string, data: string, signed: Signed): JsonObject {
  const type = 'image_url';
  return { type, image_url: { url: toDataUri(mime, data) }, ...signatureFields({ ...signed, type }) };
}

/** The signature, with its maker where a client that sends it back could mistake it for another's. */
export function signatureFields(block: Signed & { readonly type: string }): Signed {
  const { signature } = block;
  return signature === undefined ? {} : { signature, ...tagOf(block) };
}

/** Fields of a choice that the decoder reads. A note on the answer must not overwrite them. */
export const CHOICE_FIELDS: ReadonlySet<string> = new Set([
  'index',
  'message',
  'delta',
  'logprobs',
  'finish_reason',
  'native_finish_reason',
]);

/** Notes on the whole answer are fields of the choice (docs/protocols/replies.md#choice-notes). */
export function choiceNotes(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !CHOICE_FIELDS.has(key)));
}
