import type { JsonObject } from '../conversation.ts';
import type { BodyEdit, Cleaning, SearchableBody } from '../format.ts';
import { FOREIGN, isForeignThinking, textSignature } from './signatures.ts';
import { LossReport } from '../losses/losses.ts';
import { loopLostThinking } from './encode-turns.ts';
import type { WireMessage } from './request-context.ts';
import { SIGNATURE_MARK, splitSignature } from './tool-ids.ts';
import { isObject, objectOf } from '../json/object.ts';
import { listOf, stringOf } from '../json/read.ts';

/**
 * Strings that show that a body may hold blocks which this gateway made of another provider's answer. SDKs write JSON
 * without spaces, or (Python's `json`) with one after the colon.
 */
const SIGNS = [`"${FOREIGN}`, '"signature":""', '"signature": ""', SIGNATURE_MARK];

/**
 * Removes the thoughts of other providers from a body for Claude, and their signatures from call ids. Claude refuses
 * the thoughts and does not need the signatures.
 */
export function clean(body: SearchableBody): Cleaning | undefined {
  if (!SIGNS.some((sign) => body.contains(sign))) return undefined;
  const messages = listOf(body.value('messages'));
  if (!messages) return undefined;
  const losses = new LossReport();
  let changed = false;
  const kept = messages.flatMap((message, at) => {
    const content = isObject(message) ? listOf(message.content) : undefined;
    if (!isObject(message) || !content) return [message];
    const cleaned = cleanContent(content, `messages[${at}].content`, losses);
    if (cleaned === content) return [message];
    changed = true;
    // The API refuses an empty message, and merges the neighbours of a removed message
    // (docs/protocols/anthropic-messages.md#turns).
    return cleaned.length > 0 ? [{ ...message, content: cleaned }] : [];
  });
  if (!changed) return undefined;
  const edits: BodyEdit[] = [{ path: ['messages'], value: kept, source: 'gateway' }];
  if (
    losses.list().some(({ reason }) => reason !== FOREIGN_SIGNATURE) &&
    needsThinking(body) &&
    loopLostThinking(wireMessages(kept))
  ) {
    edits.push({ path: ['thinking'], value: undefined, source: 'gateway' });
    losses.dropped('thinking', 'the thinking that began this tool loop is another provider’s');
  }
  return { edits, losses: losses.list() };
}

const FOREIGN_SIGNATURE = 'the signature of another provider';

/** Returns the same list when nothing changes. */
function cleanContent(content: readonly unknown[], path: string, losses: LossReport): readonly unknown[] {
  let changed = false;
  const kept = content.flatMap((block, at) => {
    if (!isObject(block)) return [block];
    if (isForeignThinking(block)) {
      losses.dropped(`${path}[${at}]`, 'the thinking of another provider');
      changed = true;
      return [];
    }
    if (isSignedImage(block, content[at + 1])) {
      losses.dropped(`${path}[${at}]`, 'the picture of another provider');
      changed = true;
      return [];
    }
    const plain = withoutSignature(block);
    changed ||= plain !== block;
    if (plain !== block && block.type === 'tool_use') losses.dropped(`${path}[${at}].id`, FOREIGN_SIGNATURE);
    return [plain];
  });
  return changed ? kept : content;
}

/**
 * True for an image of another provider, whose signature is in the next block. Claude generates no images and accepts
 * none in assistant turns.
 */
function isSignedImage(block: JsonObject, next: unknown): boolean {
  return block.type === 'image' && isObject(next) && textSignature(next) !== undefined;
}

/** The id of a call without the signature of another provider. Results repeat the id, so only calls are reported. */
function withoutSignature(block: JsonObject): JsonObject {
  const key = block.type === 'tool_use' ? 'id' : block.type === 'tool_result' ? 'tool_use_id' : undefined;
  const id = key && stringOf(block[key]);
  if (key === undefined || id === undefined || !id.includes(SIGNATURE_MARK)) return block;
  return { ...block, [key]: splitSignature(id).id };
}

/**
 * With manual thinking a tool loop must begin with its thinking block; adaptive thinking has no such rule
 * (docs/protocols/anthropic-messages.md#thinking-blocks).
 */
const needsThinking = (body: SearchableBody): boolean =>
  body.has('thinking') && objectOf(body.value('thinking'))?.type === 'enabled';

function wireMessages(messages: readonly unknown[]): readonly WireMessage[] {
  return messages.filter(isObject).map(({ role, content }) => ({
    role: role === 'assistant' ? 'assistant' : 'user',
    content: (listOf(content) ?? []).filter(isObject),
  }));
}
