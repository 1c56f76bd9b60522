import type {
  Conversation,
  JsonObject,
  MediaPart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../conversation.ts';
import type { RequestTarget } from '../format.ts';
import { wrappedArguments } from '../call-arguments.ts';
import { encodeMedia } from './encode-media.ts';
import { takes } from './extensions.ts';
import { ReturnedThoughts } from './returned-thoughts.ts';
import { BodyPlace } from '../losses/place.ts';
import { messagesOf } from '../losses/places.ts';
import type { LossReport } from '../losses/losses.ts';
import { compact } from '../json/compact.ts';
import { isObject } from '../json/object.ts';
import { makerOf } from '../maker.ts';
import { MCP_AS_TEXT, mcpText } from '../mcp-parts.ts';
import { loseOpaque } from '../opaque-parts.ts';

interface MessageDestination {
  readonly path: BodyPlace;
  readonly at: number;
  readonly target: RequestTarget;
  readonly report: LossReport;
  /** True: arguments may be any text, and the server refuses text that is no object. Other clients have objects, or get what they wrote. */
  readonly anyArguments: boolean;
}

export function encodeMessages(
  { turns, extrasFormat }: Conversation,
  target: RequestTarget,
  report: LossReport,
): JsonObject[] {
  const anyArguments = extrasFormat === 'openai-responses' && target.extensions?.size !== 0;
  let at = 0;
  return turns.flatMap((turn) => {
    const place: MessageDestination = { path: BodyPlace.item('messages', at), at, target, report, anyArguments };
    at += messagesOf(turn);
    switch (turn.role) {
      case 'system':
      case 'user':
        return encodeContent(turn, place);
      case 'assistant':
        return encodeAssistant(turn, place);
      case 'tool':
        return encodeResults(turn, place);
    }
  });
}

/**
 * A single plain text is sent as a string, the form that every server accepts. A message without parts is the empty
 * string. A turn of which nothing can be sent makes no message.
 */
function encodeContent(turn: Turn, place: MessageDestination): JsonObject[] {
  const parts: JsonObject[] = [];
  for (const [at, part] of turn.parts.entries()) {
    const encoded = encodeInput(part, BodyPlace.itemOf(place.path, 'content', at), turn.role, place);
    if (encoded) parts.push(encoded);
  }
  if (parts.length === 0 && turn.parts.length > 0) return [];
  return [compact({ role: turn.role, content: plainText(parts) ?? parts, name: turn.name })];
}

/**
 * Joins the texts of an answer or a result: many servers read only a string there
 * (docs/protocols/messages-route.md#joined-texts).
 */
function joined(parts: readonly JsonObject[], between: string): string | undefined {
  const texts = parts.map(({ type, text, ...others }) =>
    type === 'text' && typeof text === 'string' && Object.keys(others).length === 0 ? text : undefined,
  );
  return texts.length > 1 && !texts.includes(undefined) ? texts.join(between) : undefined;
}

function plainText(parts: readonly JsonObject[]): string | undefined {
  if (parts.length === 0) return '';
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === 'text' && Object.keys(only).length === 2;
  return plain && typeof only.text === 'string' && only.text !== '' ? only.text : undefined;
}

/** A part of a system or user message. */
function encodeInput(
  part: Part,
  path: BodyPlace,
  role: Turn['role'],
  place: MessageDestination,
): JsonObject | undefined {
  const { report } = place;
  switch (part.type) {
    case 'text':
      return marked({ type: 'text', text: textOf(part, path, report) }, part, { path, role, place });
    case 'media':
      if (part.signature) report.dropped(BodyPlace.field(path, 'signature'), 'OpenAI chat has no signatures on media.');
      return marked(encodeMedia(part, path, place), part, { path, role, place });
    case 'opaque':
      return part.format === 'openai-chat' ? part.value : loseOpaque(part, path, role, report);
    default:
      report.unreadable(path, `OpenAI chat has no ${part.type} part in a ${role} message`);
      return undefined;
  }
}

function textOf(part: TextPart, path: BodyPlace, report: LossReport): string {
  if (part.signature) report.dropped(BodyPlace.field(path, 'signature'), 'OpenAI chat has no signatures on text.');
  return part.text;
}

interface Marking {
  readonly path: BodyPlace;
  readonly role: Turn['role'];
  readonly place: MessageDestination;
}

/**
 * Only OpenAI has cache markers, only on the parts of user messages, and without a time to live
 * (docs/protocols/openai-chat.md#cache-markers).
 */
function marked(block: JsonObject, { cache }: TextPart | MediaPart, { path, role, place }: Marking): JsonObject {
  if (!cache) return block;
  const { target, report } = place;
  // A target without Anthropic's marker is OpenAI's own API. Other servers may refuse the newer field.
  if (role !== 'user' || target.host === 'vertex' || takes(target, 'cache_control')) {
    report.dropped(BodyPlace.field(path, 'cache_control'), `No cache markers in ${role} messages of this target.`);
    return block;
  }
  if (cache.ttl)
    report.downgraded(
      BodyPlace.field(path, 'cache_control.ttl'),
      'OpenAI sets the time to live for the whole request.',
    );
  return { ...block, prompt_cache_breakpoint: { mode: 'explicit' } };
}

function encodeAssistant(turn: Turn, place: MessageDestination): JsonObject[] {
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

interface Answer {
  readonly calls: readonly JsonObject[];
  readonly spoken: readonly JsonObject[];
  readonly audio: unknown;
  readonly thoughts: JsonObject;
}

function assembled(
  turn: Turn,
  { calls, spoken, audio, thoughts }: Answer,
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
      report.dropped(path, `OpenAI chat cannot take ${part.type} back in an assistant message.`);
      return undefined;
  }
}

/**
 * A single refusal at the end of the message goes into its own field, as in OpenAI's replies. Any other refusal stays
 * among the parts.
 */
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

/**
 * vLLM, SGLang and llama.cpp parse the arguments of the history, and refuse those that are no JSON object; OpenAI takes any text
 * (docs/protocols/openai-chat.md#tool-calls).
 */
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

/**
 * Encodes one message per result. A tool message holds only text: media follow in a user message
 * (docs/protocols/messages-route.md#results), and a failed result begins with a prefix
 * (docs/protocols/messages-route.md#failed-results).
 */
function encodeResults(turn: Turn, place: MessageDestination): JsonObject[] {
  const attached: JsonObject[] = [];
  const messages = turn.parts.flatMap((part, at) => {
    const path = BodyPlace.item('messages', place.at + at);
    if (part.type !== 'tool_result') {
      place.report.dropped(path, `OpenAI chat has no ${part.type} part in a tool message.`);
      return [];
    }
    return [encodeResult(part, path, { place, attached })];
  });
  return attached.length > 0 ? [...messages, { role: 'user', content: attached }] : messages;
}

function encodeResult(
  result: ToolResultPart,
  path: BodyPlace,
  to: { place: MessageDestination; attached: JsonObject[] },
): JsonObject {
  const { report } = to.place;
  if (result.cache) report.dropped(BodyPlace.field(path, 'cache_control'), 'No cache markers on tool results.');
  const texts: JsonObject[] = [];
  for (const [at, part] of result.content.entries()) {
    const inner = BodyPlace.itemOf(path, 'content', at);
    const encoded = encodeInput(part, inner, 'tool', to.place);
    if (!encoded) continue;
    if (part.type !== 'media') texts.push(encoded);
    else {
      report.downgraded(inner, 'Media of a tool result is sent in a user message after it.');
      to.attached.push(encoded);
    }
  }
  if (result.isError) {
    report.downgraded(
      BodyPlace.field(path, 'is_error'),
      'OpenAI chat has no failed results: the text begins with "Error: ".',
    );
    const [first] = texts;
    const text = first?.type === 'text' && typeof first.text === 'string' ? first.text : undefined;
    texts.splice(0, text === undefined ? 0 : 1, { type: 'text', text: `Error: ${text ?? ''}` });
  }
  return compact({
    role: 'tool',
    tool_call_id: result.callId,
    name: result.name,
    content: joined(texts, '\n') ?? plainText(texts) ?? texts,
  });
}
