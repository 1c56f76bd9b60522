import type {
  CacheMarker,
  McpCallPart,
  McpResultPart,
  OpaquePart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../conversation.ts';
import { encodeArguments } from '../call-arguments.ts';
import { BodyPlace } from '../losses/place.ts';
import { mcpBlock } from '../mcp-parts.ts';
import { loseOpaque } from '../opaque-parts.ts';
import { ARGUMENTS } from './argument-texts.ts';
import { attach, isOwnOpaque, isReplyFields } from './block-fields.ts';
import { isListing } from './encode-mcp.ts';
import { encodeMedia } from './encode-media.ts';
import type { WireBlock, RequestContext } from './request-context.ts';
import { ENVELOPE } from '../envelope.ts';
import { makerOf } from '../maker.ts';
import { FOREIGN_SIGNATURE, FOREIGN_THINKING, OWN_MAKER } from './signatures.ts';
import { SIGNATURE_MARK } from './tool-ids.ts';

type Role = 'system' | 'user' | 'assistant' | 'tool_result';

/** Parts of one turn → blocks. `path` is the turn's place (losses/places.ts). */
export function encodeParts(parts: readonly Part[], path: BodyPlace, role: Role, context: RequestContext): WireBlock[] {
  // Most turns have one text. A list written with its item has no room for items that never come.
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text') {
    const block = encodeText(only, BodyPlace.itemOf(path, 'content', 0), role, context);
    return block ? [block] : [];
  }
  const blocks: WireBlock[] = [];
  // True when the previous part made the last block, which may get further fields then.
  let made = false;
  let calls = 0;
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at]!;
    const here = placeOf(part, path, part.type === 'tool_call' ? calls++ : at, context);
    if (isAttached(part) && isOwnOpaque(part)) {
      const whole = made ? attach(part.value, blocks.at(-1)) : undefined;
      if (whole) blocks[blocks.length - 1] = whole;
      else context.losses.dropped(here, 'the block these fields belong to is not in the message');
      continue;
    }
    const block = encodePart(part, here, role, context);
    if (!isAttached(part)) made = block !== undefined;
    if (block) blocks.push(block);
  }
  return blocks;
}

function isAttached(part: Part): boolean {
  return part.type === 'opaque' && part.attached === true;
}

/** A tool result is a message of its own in OpenAI's API, and a block inside a message here. */
function placeOf(part: Part, path: BodyPlace, index: number, { native }: RequestContext): BodyPlace {
  if (part.type === 'tool_call') return BodyPlace.itemOf(path, 'tool_calls', index);
  return part.type === 'tool_result' && !native ? path : BodyPlace.itemOf(path, 'content', index);
}

function encodePart(part: Part, path: BodyPlace, role: Role, context: RequestContext): WireBlock | undefined {
  const { losses } = context;
  switch (part.type) {
    case 'text':
      return encodeText(part, path, role, context);
    case 'refusal':
      // A refusal holds nothing but its text, and Claude's own refusals are ordinary text with a stop reason
      // (docs/protocols/anthropic-messages.md#stop-reasons): nothing is lost.
      return encodeText({ text: part.text }, path, role, context);
    case 'tool_result':
      return encodeResult(part, path, context);
    case 'code':
      losses.downgraded(path, 'Claude reads code another provider ran as text');
      return { type: 'text', text: `\`\`\`${part.language.toLowerCase()}\n${part.code}\n\`\`\`` };
    case 'code_result':
      losses.downgraded(path, 'Claude reads the result of code another provider ran as text');
      return { type: 'text', text: `\`\`\`\n${part.output}\n\`\`\`` };
    case 'media':
      if (role === 'user' || role === 'tool_result') return cached(encodeMedia(part, path, context), part.cache);
      return losses.unsent(path, `Claude takes no media in ${role} messages`, role);
    case 'opaque':
      return encodeOpaque(part, path, role, context);
    case 'thinking':
    case 'redacted_thinking':
    case 'tool_call':
    case 'mcp_call':
    case 'mcp_result':
      if (role !== 'assistant') return losses.unsent(path, `Claude takes no ${part.type} in ${role} messages`, role);
      return encodeAssistantPart(part, path, context);
  }
}

function encodeOpaque(
  part: OpaquePart,
  path: BodyPlace,
  role: Role,
  { servers, losses }: RequestContext,
): WireBlock | undefined {
  if (isOwnOpaque(part)) return isReplyFields(part.value) ? undefined : part.value;
  if (part.format === 'openai-responses' && isListing(part.value, servers)) return undefined;
  return loseOpaque(part, path, role === 'tool_result' ? 'tool' : role, losses);
}

type AssistantPart = Extract<
  Part,
  { type: 'thinking' | 'redacted_thinking' | 'tool_call' | 'mcp_call' | 'mcp_result' }
>;

function encodeAssistantPart(part: AssistantPart, path: BodyPlace, context: RequestContext): WireBlock | undefined {
  switch (part.type) {
    case 'thinking':
      // Thinking of another model, or without its signature, is a 400 (docs/protocols/anthropic-messages.md#thinking-blocks): such blocks
      // are dropped (docs/protocols/messages-route.md#thoughts).
      if (!part.signature)
        return context.losses.dropped(path, 'thinking without a signature cannot be sent back to Claude');
      if (!isOwn(part)) return context.losses.dropped(path, FOREIGN_THINKING);
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'redacted_thinking':
      if (!isOwn(part)) return context.losses.dropped(path, FOREIGN_THINKING);
      return { type: 'redacted_thinking', data: part.data };
    case 'tool_call':
      return encodeCall(part, path, context);
    case 'mcp_call':
    case 'mcp_result':
      return cached(encodeMcp(part, path, context), part.cache);
  }
}

function encodeMcp(part: McpCallPart | McpResultPart, path: BodyPlace, context: RequestContext): WireBlock {
  if (!context.native) return context.servers.block(part, path, context);
  const input = part.type === 'mcp_call' ? encodeArguments(part, path, context.losses, ARGUMENTS) : undefined;
  return mcpBlock(part, input);
}

/**
 * Empty and blank texts are a 400 upstream ("must contain non-whitespace text"). Leaving out an empty text loses
 * nothing. Nor does leaving out a blank text of the assistant: Claude itself writes such texts between its blocks
 * (recorded), and refuses them when they come back.
 *
 * A signature on a text or a call is never Claude's, which signs thinking only. Only its maker can use it, so it is
 * stripped and reported (docs/protocols/replies.md#foreign-signatures).
 */
function encodeText(
  { text, cache, signature }: Pick<TextPart, 'text' | 'cache' | 'signature'>,
  path: BodyPlace,
  role: Role,
  context: RequestContext,
): WireBlock | undefined {
  if (signature) context.losses.dropped(BodyPlace.field(path, 'signature'), FOREIGN_SIGNATURE);
  if (text.trim() !== '') return cached({ type: 'text', text }, cache);
  if (cache)
    context.losses.dropped(BodyPlace.field(path, 'cache_control'), 'Claude takes no cache marker without a text');
  if (text === '' || role === 'assistant') return undefined;
  return context.losses.dropped(path, 'Claude refuses text that is only white space');
}

function encodeCall(part: ToolCallPart, path: BodyPlace, context: RequestContext): WireBlock {
  if (part.signature) context.losses.dropped(BodyPlace.field(path, 'function.thought_signature'), FOREIGN_SIGNATURE);
  if (part.id.includes(SIGNATURE_MARK)) context.losses.dropped(BodyPlace.field(path, 'id'), FOREIGN_SIGNATURE);
  const input = encodeArguments(part, path, context.losses, ARGUMENTS);
  return cached({ type: 'tool_use', id: context.ids.wire(part.id), name: part.name, input }, part.cache);
}

export function encodeResult(part: ToolResultPart, path: BodyPlace, context: RequestContext): WireBlock {
  const content = encodeParts(part.content, path, 'tool_result', context);
  const result: WireBlock = { type: 'tool_result', tool_use_id: context.ids.wire(part.callId) };
  if (content.length > 0) result.content = content;
  if (part.isError !== undefined) result.is_error = part.isError;
  return cached(result, part.cache);
}

function cached(block: WireBlock, cache: CacheMarker | undefined): WireBlock {
  return cache ? { ...block, cache_control: cache } : block;
}

/** Claude's signatures are base64. An envelope has a dot: a client moved it from the Messages API to another one. */
const isOwn = (part: Extract<Part, { type: 'thinking' | 'redacted_thinking' }>): boolean =>
  makerOf(part) === OWN_MAKER && !(part.type === 'thinking' ? part.signature : part.data)?.startsWith(ENVELOPE);
