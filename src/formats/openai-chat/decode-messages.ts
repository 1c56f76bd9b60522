import type { CacheMarker, JsonObject, Part, ToolCallPart, Turn } from '../conversation.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { decodeCache, decodeContent, decodeParts, interleave, optionalParts } from './decode-parts.ts';
import { readMaker } from '../maker.ts';
import { invalidValue, readArray, readObject, readString, required } from './read.ts';
import { compact, isObject } from '../json/object.ts';

/** Decodes the messages (docs/protocols/openai-chat.md#messages). Adjacent tool messages become one turn. */
export function decodeMessages(messages: readonly unknown[], origins?: Origins): readonly Turn[] {
  const turns: Turn[] = [];
  /** Parts of the open tool turn: one list that grows, because there may be thousands of results. */
  let results: Part[] | undefined;
  const reading: MessageContext = { legacy: new LegacyCalls(), origins };
  for (let at = 0; at < messages.length; at += 1) {
    const path = BodyPlace.item('messages', at);
    const turn = decodeMessage(required(readObject(messages[at], path), path), path, reading);
    if (turn.role === 'tool' && results) {
      results.push(...turn.parts);
      continue;
    }
    results = turn.role === 'tool' ? [...turn.parts] : undefined;
    const whole = results ? { ...turn, parts: results } : turn;
    origins?.note(whole, path);
    turns.push(whole);
  }
  return turns;
}

/**
 * Creates call ids for the deprecated function messages, which have none: a `function` message answers the last call of
 * that name. Ids are derived from positions, so the same body always gives the same conversation.
 */
class LegacyCalls {
  #count = 0;
  #byName: Map<string, string> | undefined;

  called(name: string): string {
    const id = `call_function_${this.#count++}`;
    (this.#byName ??= new Map<string, string>()).set(name, id);
    return id;
  }

  answered(name: string): string {
    return this.#byName?.get(name) ?? this.called(name);
  }
}

interface MessageContext {
  readonly legacy: LegacyCalls;
  readonly origins: Origins | undefined;
}

function decodeMessage(message: JsonObject, path: BodyPlace, reading: MessageContext): Turn {
  const { legacy, origins } = reading;
  const role = required(readString(message.role, path, 'role'), path, 'role');
  switch (role) {
    case 'developer':
    case 'system':
      return turn({ role: 'system', parts: contentOf(message, path, origins) }, message, path, origins);
    case 'user':
      return turn({ role: 'user', parts: contentOf(message, path, origins) }, message, path, origins);
    case 'assistant':
      return turn({ role: 'assistant', parts: decodeAssistant(message, path, reading) }, message, path, origins);
    case 'tool': {
      const callId = required(readString(message.tool_call_id, path, 'tool_call_id'), path, 'tool_call_id');
      return { role, parts: [decodeResult(message, callId, path, origins)] };
    }
    case 'function': {
      const name = required(readString(message.name, path, 'name'), path, 'name');
      return { role: 'tool', parts: [decodeResult(message, legacy.answered(name), path, origins)] };
    }
    default:
      throw invalidValue(
        BodyPlace.field(path, 'role'),
        `\`${String(path)}.role\` must be one of developer, system, user, assistant, tool, function.`,
      );
  }
}

function contentOf({ content }: JsonObject, path: BodyPlace, origins: Origins | undefined): Part[] {
  return decodeContent(content, BodyPlace.field(path, 'content'), origins);
}

function turn({ role, parts }: Turn, message: JsonObject, path: BodyPlace, origins: Origins | undefined): Turn {
  const cache = decodeCache(message, path);
  const marked = cache ? markLast(parts, cache, origins) : parts;
  const name = readString(message.name, path, 'name');
  return name === undefined ? { role, parts: marked } : { role, parts: marked, name };
}

/** A cache marker on the message means "up to here": it belongs on the last part that can carry one. */
function markLast(parts: readonly Part[], cache: CacheMarker, origins: Origins | undefined): readonly Part[] {
  const at = parts.findLastIndex((part) => part.type === 'text' || part.type === 'media' || part.type === 'tool_call');
  return parts.map((part, index) => {
    if (index !== at) return part;
    const marked = { ...part, cache };
    origins?.carry(part, marked);
    return marked;
  });
}

function decodeResult(message: JsonObject, callId: string, path: BodyPlace, origins: Origins | undefined): Part {
  const name = readString(message.name, path, 'name');
  const content = contentOf(message, path, origins);
  const cache = decodeCache(message, path);
  const result: Part = cache
    ? compact({ type: 'tool_result' as const, callId, name, content, cache })
    : name === undefined
      ? { type: 'tool_result', callId, content }
      : { type: 'tool_result', callId, name, content };
  origins?.note(result, path);
  return result;
}

function decodeAssistant(message: JsonObject, path: BodyPlace, { legacy, origins }: MessageContext): Part[] {
  const parts = decodeSpoken(message, path, origins);
  const add = (part: Part, place: ParamPath): void => {
    origins?.note(part, place);
    parts.push(part);
  };
  const refusal = readString(message.refusal, path, 'refusal');
  if (refusal) add({ type: 'refusal', text: refusal }, BodyPlace.field(path, 'refusal'));
  const audio = readObject(message.audio, path, 'audio');
  // An audio answer is referenced by its id (docs/protocols/openai-chat.md#messages), which only OpenAI can look up.
  if (audio) add({ type: 'opaque', format: 'openai-chat', value: { audio } }, BodyPlace.field(path, 'audio'));
  const calls = readArray(message.tool_calls, path, 'tool_calls') ?? [];
  for (let at = 0; at < calls.length; at += 1) {
    const place = BodyPlace.itemOf(path, 'tool_calls', at);
    add(decodeCall(required(readObject(calls[at], place), place), place), place);
  }
  if (isSet(message.content_blocks)) for (const [place, call] of blockCalls(message, path, parts)) add(call, place);
  const call = readObject(message.function_call, path, 'function_call');
  if (call) {
    const place = BodyPlace.field(path, 'function_call');
    add(decodeLegacyCall(call, place, legacy), place);
  }
  return parts;
}

/**
 * Decodes the content of an assistant message. `content_blocks` override `content_parts`, and both override `content`:
 * they hold the same content in more detail. When they hold no text (a client kept only the blocks that it did not
 * understand), the text still comes from `content`. `reasoning_content` (DeepSeek, vLLM) is unsigned thinking. It
 * becomes a part only when the message has no other thinking: a target that cannot take it reports the loss.
 */
function decodeSpoken(message: JsonObject, path: BodyPlace, origins: Origins | undefined): Part[] {
  const content = contentOf(message, path, origins);
  const spoken = hasRichContent(message) ? decodeRich(message, path, content, origins) : content;
  const reasoning = readString(message.reasoning_content, path, 'reasoning_content');
  if (!reasoning || spoken.some((part) => part.type === 'thinking' || part.type === 'redacted_thinking')) return spoken;
  const thought: Part = { type: 'thinking', text: reasoning, unnamed: true };
  origins?.note(thought, BodyPlace.field(path, 'reasoning_content'));
  return [thought, ...spoken];
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

const hasRichContent = (message: JsonObject): boolean => isSet(message.content_blocks) || isSet(message.content_parts);

function decodeRich(message: JsonObject, path: BodyPlace, content: Part[], origins: Origins | undefined): Part[] {
  const [blockList, partList] = [BodyPlace.field(path, 'content_blocks'), BodyPlace.field(path, 'content_parts')];
  // Calls follow the content: decodeAssistant reads them.
  const blocks = optionalParts(message.content_blocks, blockList)?.filter((item) => !isToolUse(item));
  const items = optionalParts(message.content_parts, partList) ?? [];
  const note = origins && noteItems(message, path, origins);
  const rich = blocks
    ? decodeParts(interleave(blocks, items), blockList, { owner: 'anthropic-messages', note })
    : decodeParts(items, partList, { owner: 'openai-chat', note });
  return rich.some((part) => part.type === 'text') ? rich : withContent(rich, content);
}

/** `content_blocks` and `content_parts` are decoded as one list. The place of an item is that in its own list. */
function noteItems(message: JsonObject, path: BodyPlace, origins: Origins): (part: Part, item: JsonObject) => void {
  const placeIn = (list: 'content_blocks' | 'content_parts', item: JsonObject): BodyPlace | undefined => {
    const at = readArray(message[list], path, list)?.indexOf(item) ?? -1;
    return at < 0 ? undefined : BodyPlace.item(BodyPlace.field(path, list), at);
  };
  // A part assembled from fragments has no single place, so its place is the list.
  const whole = BodyPlace.field(path, 'content_blocks');
  return (part, item) =>
    origins.note(part, () => placeIn('content_blocks', item) ?? placeIn('content_parts', item) ?? whole);
}

function isToolUse(block: unknown): block is JsonObject {
  return isObject(block) && block.type === 'tool_use';
}

/** Puts the text after the thinking and before the media. */
function withContent(rich: readonly Part[], content: readonly Part[]): Part[] {
  const firstMedia = rich.findIndex((part) => part.type === 'media');
  const at = firstMedia < 0 ? rich.length : firstMedia;
  return [...rich.slice(0, at), ...content, ...rich.slice(at)];
}

function decodeCall(call: JsonObject, path: BodyPlace): ToolCallPart {
  const custom = call.type === 'custom';
  const key = custom ? 'custom' : 'function';
  const place = BodyPlace.field(path, key);
  const body = required(readObject(call[key], place), place);
  const field = custom ? 'input' : 'arguments';
  const part: ToolCallPart = {
    type: 'tool_call',
    id: required(readString(call.id, path, 'id'), path, 'id'),
    name: required(readString(body.name, place, 'name'), place, 'name'),
    arguments: readString(body[field], place, field) ?? '',
  };
  const signature = callSignature(call, body);
  const cache = decodeCache(call, path);
  if (!custom && signature === undefined && cache === undefined) return part;
  const made = signature === undefined ? {} : readMaker(readString(body.maker, place, 'maker'));
  return { ...part, ...(custom && { custom }), ...compact({ signature, ...made, cache }) };
}

/** Fields in which clients return Gemini's signatures (docs/protocols/replies.md#thought-signatures), first wins. */
export function callSignature(call: JsonObject, body: JsonObject): string | undefined {
  const extra = isObject(call.extra_content) ? call.extra_content.google : undefined;
  return (
    signatureOf(body.thought_signature) ??
    signatureOf(call.thought_signature) ??
    (isObject(extra) ? signatureOf(extra.thought_signature) : undefined)
  );
}

function signatureOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Calls that are only in `content_blocks`, from clients that replay Anthropic's blocks whole. */
function blockCalls(
  message: JsonObject,
  path: BodyPlace,
  parts: readonly Part[],
): (readonly [place: BodyPlace, call: ToolCallPart])[] {
  const list = BodyPlace.field(path, 'content_blocks');
  const blocks = optionalParts(message.content_blocks, list) ?? [];
  const known = new Set(parts.map((part) => (part.type === 'tool_call' ? part.id : undefined)));
  return blocks.flatMap((block, at) => {
    if (!isToolUse(block)) return [];
    const place = BodyPlace.item(list, at);
    const id = required(readString(block.id, place, 'id'), place, 'id');
    if (known.has(id)) return [];
    const name = required(readString(block.name, place, 'name'), place, 'name');
    const input = readObject(block.input, place, 'input');
    return [[place, { type: 'tool_call', id, name, arguments: input ? JSON.stringify(input) : '' }]];
  });
}

function decodeLegacyCall(call: JsonObject, path: BodyPlace, legacy: LegacyCalls): ToolCallPart {
  const name = required(readString(call.name, path, 'name'), path, 'name');
  return {
    type: 'tool_call',
    id: legacy.called(name),
    name,
    arguments: readString(call.arguments, path, 'arguments') ?? '',
  };
}
