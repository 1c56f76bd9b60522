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

/** Events → GenerateContentResponse for a client of this API. */
export function encodeReply(
  events: readonly GenerationEvent[],
  client: ClientContext,
  notes: LossNotes = noLosses(),
): JsonObject {
  const { id, model, choices, usage } = fold(events);
  for (const { parts } of choices) for (const part of parts) loseForeign(part, notes);
  return { candidates: choices.map(encodeChoice), ...encodeEnvelope({ id, model, usage }, client) };
}

/** The other direction makes a `chatcmpl-` id of `responseId` (docs/protocols/replies.md#call-ids). */
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
  // A refusal is text here, so its tokens are those of the text.
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
  /** Candidate metadata of a Gemini upstream; citations of any other one are put into its shape. */
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
