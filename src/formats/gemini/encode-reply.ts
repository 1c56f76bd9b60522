import type { JsonObject } from '../conversation.ts';
import type { FinishReason, GenerationEvent, UrlCitation, Usage } from '../events.ts';
import { type FoldedChoice, fold } from '../streams/fold.ts';
import type { ClientContext } from '../format.ts';
import { encodeAnswerPart, encodeLogprobs, loseForeign } from './encode-parts.ts';
import { nativeFinish } from './finish.ts';
import { groundingOf } from './grounding.ts';
import { isCandidateMetadata } from './metadata.ts';
import { encodeUsage } from './usage.ts';
import { noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { optional } from './wire.ts';

/** Encodes events as a GenerateContentResponse for a client of this API. */
export function encodeReply(
  events: readonly GenerationEvent[],
  client: ClientContext,
  notes: LossNotes = noLosses(),
): JsonObject {
  const { id, model, choices, usage } = fold(events);
  for (const { parts } of choices) for (const part of parts) loseForeign(part, notes);
  return { candidates: choices.map(encodeChoice), ...encodeEnvelope({ id, model, usage }, client) };
}

/**
 * The decoder turns `responseId` into a `chatcmpl-` id (docs/protocols/replies.md#call-ids). This function removes the
 * prefix again.
 */
export function encodeEnvelope(
  {
    id,
    model,
    usage,
  }: { readonly id: string | undefined; readonly model: string | undefined; readonly usage: Usage | undefined },
  client: ClientContext,
): JsonObject {
  return {
    ...(usage && { usageMetadata: encodeUsage(usage) }),
    modelVersion: model ?? client.model,
    createTime: new Date(client.created * 1000).toISOString(),
    responseId: (id ?? client.id).replace(/^chatcmpl-/, ''),
  };
}

function encodeChoice(choice: FoldedChoice): JsonObject {
  const parts = choice.parts.map(encodeAnswerPart).filter((part) => part !== undefined);
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

export interface Ending {
  readonly finish: FinishReason | undefined;
  readonly native: string | undefined;
  readonly message: string | undefined;
  readonly citations: readonly UrlCitation[];
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
