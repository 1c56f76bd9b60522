import { wrappedArguments } from '../call-arguments.ts';
import type { JsonObject, Part, ToolCallPart, Turn } from '../conversation.ts';
import { compact, isObject } from '../json/object.ts';
import { BodyPlace } from '../losses/place.ts';
import { makerOf } from '../maker.ts';
import { MCP_AS_TEXT, mcpText } from '../mcp-parts.ts';
import { loseOpaque } from '../opaque-parts.ts';
import { takes } from './extensions.ts';
import { joined, plainText, textOf, type MessageDestination } from './message-parts.ts';
import { ReturnedThoughts } from './returned-thoughts.ts';

/** An earlier answer of the model as its message. Empty when nothing of it can be sent. */
export function encodeAnswer(turn: Turn, place: MessageDestination): JsonObject[] {
  const calls: JsonObject[] = [];
  const spoken: JsonObject[] = [];
  const thoughts = new ReturnedThoughts(turn, place.target);
  let audio: unknown;
  for (const [at, part] of turn.parts.entries()) {
    if (part.type === 'tool_call') {
      calls.push(encodeCall(part, BodyPlace.itemOf(place.path, 'tool_calls', calls.length), place));
      continue;
    }
    const path = BodyPlace.itemOf(place.path, 'content', at);
    const returned = thoughts.take(part);
    if (returned === true) continue;
    const partAudio = audioOf(part);
    const encoded =
      returned || (partAudio === undefined ? encodeSpoken(part, path, place, spoken.length === 0) : undefined);
    // A part that is not sent loses no order.
    if (calls.length > 0 && (encoded ?? partAudio))
      place.report.downgraded(path, 'OpenAI chat puts tool calls after all content.');
    audio = partAudio ?? audio;
    if (encoded) spoken.push(encoded);
  }
  return assembled(turn, { calls, spoken, audio, thoughts: thoughts.fields }, place);
}

interface AnswerParts {
  readonly calls: readonly JsonObject[];
  readonly spoken: readonly JsonObject[];
  readonly audio: unknown;
  readonly thoughts: JsonObject;
}

function assembled(
  turn: Turn,
  { calls, spoken, audio, thoughts }: AnswerParts,
  { path, report }: MessageDestination,
): JsonObject[] {
  const { content, refusal } = splitRefusal(spoken);
  const elsewhere = calls.length > 0 || refusal !== undefined || audio !== undefined;
  if (content.length === 0 && !elsewhere && turn.parts.length > 0) {
    if (Object.keys(thoughts).length > 0) report.dropped(path, 'a thought without an answer after it');
    return [];
  }
  const message = compact({
    role: 'assistant',
    // `content` is null only when calls, a refusal or audio replace the text (docs/protocols/openai-chat.md#messages).
    content: content.length === 0 && elsewhere ? null : (joined(content, '') ?? plainText(content) ?? content),
    ...thoughts,
    refusal,
    audio,
    name: turn.name,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
  return [message];
}

/** An audio answer, which OpenAI stores under its id. */
function audioOf(part: Part): JsonObject | undefined {
  const audio = part.type === 'opaque' && part.format === 'openai-chat' ? part.value.audio : undefined;
  return isObject(audio) ? audio : undefined;
}

function encodeSpoken(
  part: Part,
  path: BodyPlace,
  { report }: MessageDestination,
  isFirst: boolean,
): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      if (part.cache) report.dropped(BodyPlace.field(path, 'cache_control'), 'No cache markers in assistant messages.');
      return { type: 'text', text: textOf(part, path, report) };
    case 'refusal':
      return { type: 'refusal', refusal: part.text };
    case 'mcp_call':
    case 'mcp_result':
      report.downgraded(path, MCP_AS_TEXT);
      // The texts of an answer are joined: this one is on lines of its own.
      return { type: 'text', text: `${isFirst ? '' : '\n'}${mcpText(part)}\n` };
    case 'opaque':
      return part.format === 'openai-chat' ? part.value : loseOpaque(part, path, 'assistant', report);
    default:
      return report.dropped(path, `OpenAI chat cannot take ${part.type} back in an assistant message.`);
  }
}

/** A single refusal at the end goes into its own field, as in OpenAI's replies. Any other stays among the parts. */
function splitRefusal(spoken: readonly JsonObject[]): { content: readonly JsonObject[]; refusal: unknown } {
  const last = spoken.at(-1);
  const single = spoken.filter((part) => part.type === 'refusal').length === 1;
  if (!single || last?.type !== 'refusal' || last.refusal === '') return { content: spoken, refusal: undefined };
  return { content: spoken.slice(0, -1), refusal: last.refusal };
}

function encodeCall(part: ToolCallPart, path: BodyPlace, place: MessageDestination): JsonObject {
  const { target, report } = place;
  const { id, name } = part;
  if (part.cache) report.dropped(BodyPlace.field(path, 'cache_control'), 'No cache markers on tool calls.');
  // Google's OpenAI endpoint accepts signatures here (docs/protocols/replies.md#thought-signatures). Any other server
  // would refuse the field or the foreign signature.
  const google = target.host === 'vertex' && takes(target, 'extra_content') && makerOf(part) === 'gemini';
  const signature = google ? part.signature : undefined;
  if (part.signature && !signature)
    report.dropped(BodyPlace.field(path, 'function.thought_signature'), 'OpenAI chat has no thought signatures.');
  const extra = signature ? { extra_content: { google: { thought_signature: signature } } } : {};
  if (part.custom && target.customTools)
    return { id, type: 'custom', custom: { name, input: part.arguments }, ...extra };
  // '' means no arguments. Servers that parse the arguments refuse the empty string
  // (docs/protocols/openai-chat.md#tool-calls).
  const args = part.custom ? JSON.stringify({ input: part.arguments }) : readableArguments(part, path, place);
  return { id, type: 'function', function: { name, arguments: args }, ...extra };
}

/** vLLM, SGLang and llama.cpp refuse arguments that are no JSON object (docs/protocols/openai-chat.md#tool-calls). */
function readableArguments(
  { arguments: text }: ToolCallPart,
  path: BodyPlace,
  { anyArguments, report }: MessageDestination,
): string {
  const wrapped = anyArguments ? wrappedArguments(text) : undefined;
  if (wrapped === undefined) return text || '{}';
  report.downgraded(
    BodyPlace.field(path, 'function.arguments'),
    'This server takes only an object: sent as {"value": …}.',
  );
  return wrapped;
}
