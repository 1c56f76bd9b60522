import type { CacheMarker, Part, ToolCallPart, ToolResultPart } from '../conversation.ts';
import { RequestFault } from '../format.ts';
import { losesDigits } from '../rounding.ts';
import { attach, isCompanion, isOwnOpaque, isReplyFields } from './block-fields.ts';
import { encodeMedia } from './encode-media.ts';
import { isObject, parseJson } from './json.ts';
import type { Block, RequestContext } from './request-context.ts';

type Place = 'system' | 'user' | 'assistant' | 'tool_result';

/** Parts of one turn → blocks. `path` is the turn's place in the caller's body. */
export function encodeParts(parts: readonly Part[], path: string, place: Place, context: RequestContext): Block[] {
  const blocks: Block[] = [];
  const companions: Companion[] = [];
  let calls = 0;
  let last = -1;
  parts.forEach((part, at) => {
    const here = placeOf(part, path, part.type === 'tool_call' ? calls++ : at, context);
    if (isOwnOpaque(part) && isCompanion(part.value)) {
      companions.push({ value: part.value, path: here, behind: last });
      return;
    }
    const block = encodePart(part, here, place, context);
    // A part that made no block has none for its companion.
    last = block ? blocks.push(block) - 1 : -1;
  });
  attachAll(companions, blocks, context);
  return blocks;
}

/** A result is a message of its own in OpenAI's API, and a block of one here. */
function placeOf(part: Part, path: string, index: number, { native }: RequestContext): string {
  if (part.type === 'tool_call') return `${path}.tool_calls[${index}]`;
  return part.type === 'tool_result' && !native ? path : `${path}.content[${index}]`;
}

interface Companion {
  readonly value: Block;
  readonly path: string;
  /** Index of the block before it. */
  readonly behind: number;
}

/** Last, as clients of the OpenAI API send calls behind the blocks their companions are among. */
function attachAll(companions: readonly Companion[], blocks: Block[], { ids, losses }: RequestContext): void {
  for (const { value, path, behind } of companions) {
    const id = typeof value.id === 'string' ? ids.wire(value.id) : undefined;
    const at = id === undefined ? behind : blocks.findLastIndex((block) => block.id === id);
    if (!attach(value, blocks, at)) losses.dropped(path, 'the block these fields belong to is not in the message');
  }
}

function encodePart(part: Part, path: string, place: Place, context: RequestContext): Block | undefined {
  const { losses } = context;
  switch (part.type) {
    case 'text':
      if (part.signature !== undefined) losses.dropped(`${path}.signature`, FOREIGN_SIGNATURE);
      return encodeText(part.text, path, context, part.cache);
    case 'refusal':
      losses.downgraded(path, 'Claude has no refusal block: sent as text');
      return encodeText(part.text, path, context);
    case 'tool_result':
      return encodeResult(part, path, context);
    case 'code':
      losses.downgraded(path, 'Claude reads code another provider ran as text');
      return encodeText(`\`\`\`${part.language.toLowerCase()}\n${part.code}\n\`\`\``, path, context);
    case 'code_result':
      losses.downgraded(path, 'Claude reads the result of code another provider ran as text');
      return encodeText(`\`\`\`\n${part.output}\n\`\`\``, path, context);
    case 'media':
      if (place === 'user' || place === 'tool_result') return cached(encodeMedia(part, path, context), part.cache);
      return drop(path, `Claude takes no media in ${place} messages`, context);
    case 'opaque':
      if (isOwnOpaque(part)) return isReplyFields(part.value) ? undefined : part.value;
      return drop(path, `only ${part.format} understands this block`, context);
    case 'thinking':
    case 'redacted_thinking':
    case 'tool_call':
      if (place !== 'assistant') return drop(path, `Claude takes no ${part.type} in ${place} messages`, context);
      return encodeAssistantPart(part, path, context);
  }
}

type AssistantPart = Extract<Part, { type: 'thinking' | 'redacted_thinking' | 'tool_call' }>;

function encodeAssistantPart(part: AssistantPart, path: string, context: RequestContext): Block | undefined {
  switch (part.type) {
    case 'thinking':
      // Unsigned thinking was never Claude's: a block without its proof is a 400 (B3).
      if (!part.signature) return drop(path, 'thinking without a signature cannot be sent back to Claude', context);
      return { type: 'thinking', thinking: part.text, signature: part.signature };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: part.data };
    case 'tool_call':
      return encodeCall(part, path, context);
  }
}

/** Empty and blank texts are a 400 upstream ("must contain non-whitespace text"); an empty one says nothing to lose. */
function encodeText(text: string, path: string, context: RequestContext, cache?: CacheMarker): Block | undefined {
  if (text.trim() !== '') return cached({ type: 'text', text }, cache);
  return text === '' ? undefined : drop(path, 'Claude refuses text that is only white space', context);
}

/** Claude signs thinking only; Gemini signs calls and texts too, and what it signs is worth something to Gemini alone (D9). */
const FOREIGN_SIGNATURE = 'the thought signature of another provider';

function encodeCall(part: ToolCallPart, path: string, context: RequestContext): Block {
  if (part.signature !== undefined) context.losses.dropped(`${path}.function.thought_signature`, FOREIGN_SIGNATURE);
  const input = part.custom ? { input: part.arguments } : parseArguments(part.arguments, path, context);
  return cached({ type: 'tool_use', id: context.ids.wire(part.id), name: part.name, input }, part.cache);
}

/** wire.md D2.5, which holds for Claude too: its `input` is an object. */
function parseArguments(text: string, path: string, { losses }: RequestContext): Block {
  if (text.trim() === '') return {};
  const param = `${path}.function.arguments`;
  const value = parseJson(text);
  if (value === undefined) throw new RequestFault('invalid_value', `\`${param}\` is not valid JSON.`, param);
  if (losesDigits(text, value)) losses.clamped(param, 'whole numbers beyond 2^53 are rounded');
  if (isObject(value)) return value;
  losses.downgraded(param, 'Claude takes only objects as tool input: sent as {"value": …}');
  return { value };
}

function encodeResult(part: ToolResultPart, path: string, context: RequestContext): Block {
  const content = encodeParts(part.content, path, 'tool_result', context);
  return cached(
    {
      type: 'tool_result',
      tool_use_id: context.ids.wire(part.callId),
      ...(content.length > 0 && { content }),
      ...(part.isError !== undefined && { is_error: part.isError }),
    },
    part.cache,
  );
}

function cached(block: Block, cache: CacheMarker | undefined): Block {
  return cache ? { ...block, cache_control: cache } : block;
}

function drop(path: string, reason: string, { losses }: RequestContext): undefined {
  losses.dropped(path, reason);
  return undefined;
}
