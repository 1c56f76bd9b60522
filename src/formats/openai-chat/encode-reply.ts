import type { JsonObject, MediaPart, Part, ToolCallPart } from '../conversation.ts';
import type { GenerationEvent, LogprobToken, UrlCitation } from '../events.ts';
import { fold, type Choice } from '../fold.ts';
import type { ClientContext } from '../format.ts';
import { choiceNotes, contentBlocks, contentParts, isBlock } from './content-blocks.ts';
import { compact } from './read.ts';
import { encodeUsage } from './usage.ts';

const NOTHING_SAID: readonly GenerationEvent[] = [{ type: 'finish', choice: 0, reason: 'stop' }];

/** Events → the body of wire.md A5. */
export function encodeReply(events: readonly GenerationEvent[], client: ClientContext): JsonObject {
  const generation = fold(events);
  // Clients read the first choice without asking whether there is one; the stream has it too.
  const choices = generation.choices.length > 0 ? generation.choices : fold(NOTHING_SAID).choices;
  return compact({
    id: generation.id ?? client.id,
    object: 'chat.completion',
    created: client.created,
    model: generation.model ?? client.model,
    choices: choices.map((choice) => encodeChoice(choice, client)),
    usage: generation.usage && encodeUsage(generation.usage, client.strict),
  });
}

function encodeChoice(choice: Choice, client: ClientContext): JsonObject {
  const { strict } = client;
  const calls = choice.parts.some((part) => part.type === 'tool_call');
  return compact({
    ...(!strict && notes(choice.parts)),
    index: choice.index,
    message: encodeMessage(choice, client),
    logprobs: choice.logprobs.length > 0 ? encodeLogprobs(choice.logprobs) : null,
    // Absent at the end is a stop (wire.md D10).
    finish_reason: choice.finish ?? (calls ? 'tool_calls' : 'stop'),
    native_finish_reason: strict ? undefined : choice.native,
  });
}

function encodeMessage(choice: Choice, client: ClientContext): JsonObject {
  const { parts } = choice;
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [encodeCall(part, client.strict)] : []));
  const refusal = refusalOf(choice);
  const audio = encodeAudio(parts, client);
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const elsewhere =
    calls.length > 0 || refusal !== undefined || audio !== undefined || choice.finish === 'content_filter';
  return compact({
    role: 'assistant',
    content: text === '' && elsewhere ? null : text,
    refusal: refusal ?? null,
    annotations: choice.citations.map(encodeCitation),
    audio,
    tool_calls: calls.length > 0 ? calls : undefined,
    content_blocks: client.strict ? undefined : contentBlocks(parts),
    content_parts: client.strict ? undefined : contentParts(parts),
  });
}

/** A provider's word on why it filtered stands where OpenAI explains a refusal (wire.md D10). */
function refusalOf(choice: Choice): string | undefined {
  return choice.refusal ?? (choice.finish === 'content_filter' ? choice.message : undefined);
}

function encodeCall(part: ToolCallPart, strict: boolean): JsonObject {
  const { id, name, custom } = part;
  const signature = strict ? undefined : part.signature;
  if (custom)
    return { id, type: 'custom', custom: compact({ name, input: part.arguments, thought_signature: signature }) };
  // Clients parse the arguments: none is the empty object.
  const fn = compact({ name, arguments: part.arguments || '{}', thought_signature: signature });
  return { id, type: 'function', function: fn };
}

/**
 * Made sound is a field of OpenAI's own API, strict or not (wire.md D9). Its id and expiry are those of this reply: nothing
 * is stored, so the sound cannot be referred to later.
 */
function encodeAudio(parts: readonly Part[], client: ClientContext): JsonObject | undefined {
  const pieces = parts.flatMap((part) =>
    isSound(part) && part.source.kind === 'data' ? [Buffer.from(part.source.data, 'base64')] : [],
  );
  if (pieces.length === 0) return undefined;
  return { ...audioFrame(client), data: Buffer.concat(pieces).toString('base64') };
}

function isSound(part: Part): part is MediaPart {
  return part.type === 'media' && part.media === 'audio';
}

export function audioFrame(client: ClientContext): JsonObject {
  return { id: `audio_${client.id}`, expires_at: client.created, transcript: '' };
}

function notes(parts: readonly Part[]): JsonObject {
  const merged: JsonObject[] = parts.flatMap((part) =>
    part.type === 'opaque' && !isBlock(part.value) ? [choiceNotes(part.value)] : [],
  );
  return Object.fromEntries(merged.flatMap((note) => Object.entries(note)));
}

export function encodeCitation({ url, title, start, end }: UrlCitation): JsonObject {
  return { type: 'url_citation', url_citation: { start_index: start, end_index: end, url, title: title ?? '' } };
}

export function encodeLogprobs(tokens: readonly LogprobToken[]): JsonObject {
  return {
    content: tokens.map(({ token, logprob, top }) => ({
      ...encodeToken({ token, logprob }),
      top_logprobs: (top ?? []).map(encodeToken),
    })),
    refusal: null,
  };
}

/** `bytes` are those of UTF-8, not character codes (wire.md D9). */
function encodeToken({ token, logprob }: { token: string; logprob: number }): JsonObject {
  return { token, logprob, bytes: [...Buffer.from(token, 'utf8')] };
}
