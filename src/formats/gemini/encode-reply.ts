import type { JsonObject, Part, ToolCallPart } from '../conversation.ts';
import type { GenerationEvent, LogprobToken } from '../events.ts';
import { type FoldedChoice, type Generation, fold } from '../streams/fold.ts';
import type { ClientContext } from '../format.ts';
import { CarriedThought, withThought } from './carried-thought.ts';
import { nativeFinish } from './finish.ts';
import { groundingOf } from './grounding.ts';
import { isCandidateMetadata } from './metadata.ts';
import { encodeUsage } from './usage.ts';
import { noLosses, type LossNotes, lose } from '../losses/reply-losses.ts';
import { signatureForClient } from './thought-signature.ts';
import { optional } from './wire.ts';
import { answeredArguments } from '../call-arguments.ts';
import { encodeCode, fromThoughtBlock, isPartBlock, signed } from './parts.ts';
import { objectOf } from '../json/object.ts';

/** Encodes events as a GenerateContentResponse for a client of this API. */
export function encodeReply(events: readonly GenerationEvent[], client: ClientContext, notes = noLosses()): JsonObject {
  const { id, model, choices, usage } = fold(events);
  for (const { parts } of choices) for (const part of parts) loseForeign(part, notes);
  return {
    candidates: choices.map((choice) => encodeChoice(choice, client)),
    ...encodeEnvelope({ id, model, usage }, client),
  };
}

/** Decoding made `responseId` a `chatcmpl-` id (docs/protocols/replies.md#call-ids). The prefix goes again. */
export function encodeEnvelope(
  { id, model, usage }: Pick<Generation, 'id' | 'model' | 'usage'>,
  client: ClientContext,
): JsonObject {
  return {
    ...(usage && { usageMetadata: encodeUsage(usage) }),
    modelVersion: model ?? client.model,
    createTime: new Date(client.created * 1000).toISOString(),
    responseId: (id ?? client.id).replace(/^chatcmpl-/, ''),
  };
}

function encodeChoice(choice: FoldedChoice, { hideThoughts }: ClientContext): JsonObject {
  const carried = new CarriedThought();
  const parts = choice.parts.flatMap((part, at) => {
    carried.see(part, at);
    if (hideThoughts && part.type === 'thinking') return [];
    const encoded = encodeAnswerPart(part);
    if (!encoded) return [];
    return [part.type === 'tool_call' ? withThought(encoded, carried) : encoded];
  });
  if (choice.refusal !== undefined) parts.push({ text: choice.refusal });
  const metadata: JsonObject = {};
  for (const part of choice.parts) {
    if (part.type === 'opaque' && part.format === 'gemini' && isCandidateMetadata(part.value))
      Object.assign(metadata, part.value);
  }
  const text = choice.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  // A refusal is text here, so its log probabilities join those of the text.
  const tokens = [...choice.logprobs, ...choice.refusalLogprobs];
  return {
    content: { role: 'model', parts },
    ...encodeEnding({ ...choice, metadata, text }),
    index: choice.index,
    ...(tokens.length > 0 && { logprobsResult: encodeLogprobs(tokens) }),
  };
}

interface Ending extends Pick<FoldedChoice, 'finish' | 'native' | 'message' | 'citations'> {
  /** Candidate metadata of a Gemini upstream. Citations of any other upstream are converted to its form. */
  readonly metadata: JsonObject;
  readonly text: string;
}

export function encodeEnding({ finish, native, message, citations, metadata, text }: Ending): JsonObject {
  const grounded = citations.length > 0 && !('groundingMetadata' in metadata);
  return {
    ...(finish && { finishReason: nativeFinish(finish, native) }),
    ...optional('finishMessage', message),
    ...metadata,
    ...(grounded && { groundingMetadata: groundingOf(citations, text) }),
  };
}

/** Encodes a part of an answer for Gemini's clients. Returns undefined for a part that this API has no form for. */
export function encodeAnswerPart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return words(part.text, false, signatureForClient(part));
    case 'thinking':
      return words(part.text, true, signatureForClient(part));
    case 'refusal':
      return { text: part.text };
    case 'tool_call':
      return signed({ functionCall: callOf(part) }, signatureForClient(part));
    case 'media': {
      if (part.source.kind !== 'data') return undefined;
      const inlineData = { mimeType: part.mime ?? 'application/octet-stream', data: part.source.data };
      return signed({ inlineData }, signatureForClient(part));
    }
    case 'code':
    case 'code_result':
      return encodeCode(part, signatureForClient(part), true);
    case 'opaque':
      if (part.format !== 'gemini' || isCandidateMetadata(part.value)) return undefined;
      if (isPartBlock(part.value)) return objectOf(part.value['part']);
      return fromThoughtBlock(part.value) ?? part.value;
    default:
      return undefined;
  }
}

function callOf({ id, name, custom, arguments: text }: ToolCallPart): JsonObject {
  return { id, name, args: custom ? { input: text } : text.trim() === '' ? {} : answeredArguments(text) };
}

/** Reports a block of another provider, which has no part here. Fields of a part or a whole reply are no blocks. */
export function loseForeign(part: Part, notes: LossNotes): void {
  if (part.type === 'mcp_call' || part.type === 'mcp_result' || part.type === 'redacted_thinking')
    return lose(notes, 'content_blocks');
  if (part.type !== 'opaque' || part.format === 'gemini' || part.attached) return;
  if (typeof part.value['type'] === 'string') lose(notes, 'content_blocks');
}

export function words(text: string, thought: boolean, signature: string | undefined): JsonObject {
  return signed({ text, ...(thought && { thought }) }, signature);
}

export function encodeLogprobs(tokens: readonly LogprobToken[]): JsonObject {
  const entry = ({ token, logprob }: { token: string; logprob: number }) => ({ token, logProbability: logprob });
  const chosenCandidates = tokens.map(entry);
  if (!tokens.some(({ top }) => top)) return { chosenCandidates };
  return { chosenCandidates, topCandidates: tokens.map(({ top }) => ({ candidates: (top ?? []).map(entry) })) };
}
