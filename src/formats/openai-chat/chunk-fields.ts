import type { JsonObject } from '../conversation.ts';
import { mediaKind } from '../media/media-types.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import { losePart } from './content-blocks.ts';
import { isObject, stringOf } from '../json/object.ts';

/**
 * Fields in which OpenAI-compatible servers add thinking and signatures to a reply (DeepSeek, vLLM, OpenRouter,
 * Google's OpenAI endpoint, a gateway like this one). A strict client gets only the answer
 * (docs/protocols/replies.md#strict-replies), also when the reply is passed through. Other fields of a server stay,
 * because they hold no part of the conversation.
 */
const OF_MESSAGE = ['reasoning_content', 'reasoning', 'reasoning_details', 'content_blocks', 'content_parts'] as const;
const OF_CALL = ['extra_content', 'thought_signature'] as const;

/** Keys to search for in the text of a reply before it is parsed. A null value holds nothing and may stay. */
export const EXTENSION_KEYS = [...OF_MESSAGE, ...OF_CALL].join('|');

/** Removes the extensions from a parsed reply or chunk, and reports the lost content. True when there was one. */
export function removeExtensions(reply: JsonObject, notes: LossNotes): boolean {
  const choices: readonly unknown[] = Array.isArray(reply.choices) ? reply.choices : [];
  let found = false;
  for (const choice of choices) {
    const message = isObject(choice) ? (choice.delta ?? choice.message) : undefined;
    if (isObject(message) && removeFrom(message, notes)) found = true;
  }
  return found;
}

function removeFrom(message: JsonObject, notes: LossNotes): boolean {
  for (const key of ['content_blocks', 'content_parts']) {
    const items = message[key];
    if (Array.isArray(items)) for (const item of items) loseItem(item, notes);
  }
  let found = remove(message, OF_MESSAGE);
  const calls: readonly unknown[] = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  for (const call of calls) {
    if (!isObject(call)) continue;
    for (const holder of [call, call.function, call.custom]) {
      if (isObject(holder) && remove(holder, OF_CALL)) found = true;
    }
  }
  return found;
}

/** Only fragments with their own `type` hold more than text and thoughts. */
function loseItem(item: unknown, notes: LossNotes): void {
  const block = isObject(item) && isObject(item.delta) ? item.delta : item;
  if (!isObject(block) || typeof block.type !== 'string') return;
  const { type } = block;
  if (type === 'image_url') {
    const uri = isObject(block.image_url) ? stringOf(block.image_url.url) : undefined;
    losePart({ type: 'media', media: mediaKind(/^data:([^;,]*)/i.exec(uri ?? '')?.[1] ?? 'image/png') }, notes);
  } else if (type === 'code' || type === 'code_result') losePart({ type }, notes);
  else if (!WORDS.has(type)) losePart({ type: 'opaque', value: block }, notes);
}

const WORDS: ReadonlySet<string> = new Set(['text', 'thinking', 'redacted_thinking']);

function remove(holder: JsonObject, keys: readonly string[]): boolean {
  let found = false;
  for (const key of keys) {
    if (holder[key] === undefined || holder[key] === null) continue;
    delete holder[key];
    found = true;
  }
  return found;
}

/** True for a chunk that held only extensions: nothing is left to send. */
export function isEmptyChunk(chunk: JsonObject): boolean {
  if (isObject(chunk.usage) || !Array.isArray(chunk.choices)) return false;
  return chunk.choices.every((choice: unknown) => {
    if (!isObject(choice) || choice.finish_reason || choice.logprobs) return false;
    const values = isObject(choice.delta) ? Object.values(choice.delta) : [];
    return values.every((value) => value === null || value === '');
  });
}

const TEXT_FIELDS = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const;

/** True for non-empty text, thinking or refusal, a tool's name, or media. Until then another target can be tried. */
export function hasContent(delta: JsonObject): boolean {
  if (TEXT_FIELDS.some((field) => typeof delta[field] === 'string' && delta[field] !== '')) return true;
  if (
    isNonEmpty(delta.content) ||
    isNonEmpty(delta.content_blocks) ||
    isNonEmpty(delta.content_parts) ||
    isObject(delta.audio)
  )
    return true;
  if (isObject(delta.function_call) && delta.function_call.name) return true;
  const calls: readonly unknown[] = Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  return calls.some((call) => {
    const body = isObject(call) ? (call.function ?? call.custom) : undefined;
    return isObject(body) && Boolean(body.name);
  });
}

/** The same without thoughts: an answer that holds nothing else is empty. */
export function hasOutput(delta: JsonObject): boolean {
  const { reasoning_content: _, reasoning: __, content, content_blocks: blocks, ...others } = delta;
  return hasContent({ ...others, content: withoutThoughts(content), content_blocks: withoutThoughts(blocks) });
}

const withoutThoughts = (value: unknown): unknown =>
  Array.isArray(value) ? value.filter((item: unknown) => isObject(item) && isOutput(item)) : value;

const isOutput = ({ type, delta }: JsonObject): boolean =>
  isObject(delta) ? Boolean(delta.text) || isOutput(delta) : type !== undefined && !THOUGHTS.has(type);

const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

function isNonEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
