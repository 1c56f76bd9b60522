import type { JsonObject } from '../conversation.ts';
import type { Cleaning, SearchableBody, BodyView, BodyEdit } from '../body-view.ts';
import { editItems, isObject, objectOf, listOf, stringOf } from '../json/object.ts';
import { labelHeader, type LabelledTarget } from '../labels.ts';
import { joinLosses, LossReport } from '../losses/losses.ts';
import { registered } from '../media/media-types.ts';
import {
  envelopeIn,
  FOREIGN_SIGNATURE,
  FOREIGN_THINKING,
  MARKS,
  OWN_MAKER,
  signatureOfPrevious,
} from './signatures.ts';
import { SIGNATURE_MARK, splitSignature } from './tool-ids.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';
import { loopLostThinking } from './encode-turns.ts';
import type { WireMessage } from './request-context.ts';

/**
 * Strings that show that a body may hold blocks which this gateway made of another provider's answer. SDKs write JSON
 * without spaces, or (Python's `json`) with one after the colon.
 */
const SIGNS = [...MARKS.map((mark) => `"${mark}`), '"signature":""', '"signature": ""', SIGNATURE_MARK, '"image/jpg"'];

/**
 * Removes the thoughts of other providers from a body for Claude, and their signatures from call ids. Claude refuses
 * the thoughts and does not need the signatures. A thought of Claude that another API held in an envelope is unwrapped. Labels of the
 * metadata become a header on Vertex AI.
 */
export function clean(body: SearchableBody, target: LabelledTarget): Cleaning | undefined {
  const losses = new LossReport();
  const headers = target.labelHeader ? labelHeader(undefined, target, losses) : undefined;
  const cleaning = SIGNS.some((sign) => body.contains(sign)) ? withoutForeign(body) : undefined;
  if (!headers) return cleaning;
  return { edits: cleaning?.edits ?? [], losses: joinLosses(cleaning?.losses ?? [], losses.list()), headers };
}

function withoutForeign(body: SearchableBody): Cleaning | undefined {
  const lostThinking = 'the thinking that began this tool loop is another provider’s';
  return editMessages(body, { judge, lostThinking });
}

function judge(block: JsonObject, next: unknown, place: string, losses: LossReport): JsonObject | string {
  if (isSignedImage(block, next)) return 'the picture of another provider';
  const thought = ownThought(block);
  if (thought !== block) return thought;
  const plain = withRegisteredType(withoutSignature(block));
  if (plain !== block && block.type === 'tool_use') losses.dropped(`${place}.id`, FOREIGN_SIGNATURE);
  return plain;
}

/** The block as Claude takes it back, or the reason why Claude refuses it. */
function ownThought(block: JsonObject): JsonObject | string {
  // This gateway writes an empty signature on unsigned thoughts of other models.
  if (block.type === 'thinking' && block.signature === '') return FOREIGN_THINKING;
  const envelope = envelopeIn(block);
  if (!envelope) return block;
  if (envelope === 'unreadable') return 'a signature that the gateway cannot read';
  if (envelope.kind === 'signature') return FOREIGN_SIGNATURE;
  if (envelope.maker !== OWN_MAKER) return FOREIGN_THINKING;
  if (envelope.kind === 'redacted') return { ...block, data: envelope.data };
  return { ...block, thinking: envelope.text ?? block.thinking, signature: envelope.signature };
}

/** An image of another provider, with its signature in the next block. Claude takes none in assistant turns. */
function isSignedImage(block: JsonObject, next: unknown): boolean {
  if (block.type !== 'image' || !isObject(next)) return false;
  return envelopeIn(next) === 'unreadable' || signatureOfPrevious(next) !== undefined;
}

/** An image, or a result with one, whose type clients derive from the extension of a file (media/media-types.ts). */
function withRegisteredType(block: JsonObject): JsonObject {
  if (block.type === 'tool_result') {
    const content = editItems(block.content, withRegisteredType);
    return content ? { ...block, content } : block;
  }
  const source = block.type === 'image' || block.type === 'document' ? objectOf(block.source) : undefined;
  const stated = stringOf(source?.media_type);
  if (!source || stated === undefined || registered(stated) === stated) return block;
  return { ...block, source: { ...source, media_type: registered(stated) } };
}

/** The id of a call without the signature of another provider. Results repeat the id, so only calls are reported. */
function withoutSignature(block: JsonObject): JsonObject {
  const key = block.type === 'tool_use' ? 'id' : block.type === 'tool_result' ? 'tool_use_id' : undefined;
  const id = key && stringOf(block[key]);
  if (key === undefined || id === undefined || !id.includes(SIGNATURE_MARK)) return block;
  return { ...block, [key]: splitSignature(id).id };
}

/** Only thinking is signed here, and Claude takes none without its signature. */
export function withoutSignatures(body: BodyView): Cleaning | undefined {
  return editMessages(body, {
    judge: (block) => (block.type === 'thinking' || block.type === 'redacted_thinking' ? REFUSED_SIGNATURE : block),
    lostThinking: REFUSED_SIGNATURE,
  });
}

/** A block that goes into the edited body in place of another. A string is the reason why the block is left out. */
type Verdict = JsonObject | string;

interface Editing {
  /** Returns the same block for one that stays unchanged. */
  readonly judge: (block: JsonObject, next: unknown, place: string, losses: LossReport) => Verdict;
  /** Reason of the loss when manual thinking has to be switched off. */
  readonly lostThinking: string;
}

/** Edits the blocks of a body in this format. Undefined when every block stays unchanged. */
function editMessages(body: BodyView, { judge, lostThinking }: Editing): Cleaning | undefined {
  const losses = new LossReport();
  const kept = editItems(body.value('messages'), (message, at) => {
    const content = editItems(message.content, (block, index) => {
      const place = `messages[${at}].content[${index}]`;
      const verdict = judge(block, listOf(message.content)?.[index + 1], place, losses);
      return typeof verdict === 'string' ? losses.dropped(place, verdict) : verdict;
    });
    if (!content) return message;
    // The API refuses an empty message, and merges the neighbours of a removed message
    // (docs/protocols/anthropic-messages.md#turns).
    return content.length > 0 ? { ...message, content } : undefined;
  });
  if (!kept) return undefined;
  const edits: BodyEdit[] = [{ path: ['messages'], value: kept, source: 'gateway' }];
  if (needsThinking(body) && loopLostThinking(wireMessages(kept))) {
    edits.push({ path: ['thinking'], value: undefined, source: 'gateway' });
    losses.dropped('thinking', lostThinking);
  }
  return { edits, losses: losses.list() };
}

/** With manual thinking a tool loop begins with it (docs/protocols/anthropic-messages.md#thinking-blocks). */
const needsThinking = (body: BodyView): boolean =>
  body.has('thinking') && objectOf(body.value('thinking'))?.type === 'enabled';

function wireMessages(messages: readonly unknown[]): readonly WireMessage[] {
  return messages.filter(isObject).map(({ role, content }) => ({
    role: role === 'assistant' ? 'assistant' : 'user',
    content: (listOf(content) ?? []).filter(isObject),
  }));
}
