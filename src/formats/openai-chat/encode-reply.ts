import type { JsonObject, Part, ToolCallPart } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { fold, type FoldedChoice } from '../streams/fold.ts';
import type { ClientContext } from '../format.ts';
import { encodeCitation, encodeLogprobs, encodeEnvelope, encodeFinish, encodeUsage } from './reply-fields.ts';
import { answerText, choiceNotes, contentBlocks, contentParts, isBlock, losePart } from './content-blocks.ts';
import { noLosses, type LossNotes } from '../losses/reply-losses.ts';
import { callsOf, encodeCalls, hasLegacy } from './reply-calls.ts';
import { encodeAudio } from './audio.ts';

const EMPTY_ANSWER: readonly GenerationEvent[] = [{ type: 'finish', choice: 0, reason: 'stop' }];

/** Encodes events as the body of a plain reply (docs/protocols/openai-chat.md#reply). */
export function encodeReply(events: readonly GenerationEvent[], client: ClientContext, notes = noLosses()): JsonObject {
  const generation = fold(events);
  if (client.strict) loseUnshown(generation.choices, notes);
  // Clients read the first choice without checking that it exists. The stream has one too.
  const choices = generation.choices.length > 0 ? generation.choices : fold(EMPTY_ANSWER).choices;
  // JSON.stringify leaves undefined fields out.
  return {
    ...encodeEnvelope(generation, 'chat.completion', client),
    choices: choices.map((choice) => encodeChoice(choice, client)),
    usage: generation.usage && encodeUsage(generation.usage, client.strict),
  };
}

function encodeChoice(choice: FoldedChoice, client: ClientContext): JsonObject {
  const { strict } = client;
  const calls = callsOf(choice.parts);
  const reason = choice.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  return {
    ...(!strict && notesOf(choice.parts)),
    index: choice.index,
    message: encodeMessage(choice, calls, client),
    logprobs: encodeLogprobs(choice.logprobs, choice.refusalLogprobs),
    // A missing finish reason is `stop` (docs/protocols/replies.md#missing-finish-reason).
    ...encodeFinish({ reason, native: choice.native, legacy: hasLegacy(calls, client) }, strict),
  };
}

function encodeMessage(choice: FoldedChoice, calls: readonly ToolCallPart[], client: ClientContext): JsonObject {
  const { parts } = choice;
  const refusal = refusalOf(choice);
  const audio = encodeAudio(parts, client);
  const text = answerText(parts, client.strict);
  const elsewhere =
    calls.length > 0 || refusal !== undefined || audio !== undefined || choice.finish === 'content_filter';
  return {
    role: 'assistant',
    content: text === '' && elsewhere ? null : text,
    refusal: refusal ?? null,
    annotations: choice.citations.map(encodeCitation),
    audio,
    ...(calls.length > 0 && encodeCalls(calls, client)),
    content_blocks: client.strict ? undefined : contentBlocks(parts),
    content_parts: client.strict ? undefined : contentParts(parts),
  };
}

/** The explanation of a filtered answer is a `refusal`, as OpenAI's (docs/protocols/replies.md#refusal-text). */
function refusalOf(choice: FoldedChoice): string | undefined {
  return choice.refusal ?? (choice.finish === 'content_filter' ? choice.message : undefined);
}

function loseUnshown(choices: readonly FoldedChoice[], notes: LossNotes): void {
  for (const { parts } of choices) for (const part of parts) losePart(part, notes);
}

function notesOf(parts: readonly Part[]): JsonObject {
  const merged: JsonObject[] = parts.flatMap((part) =>
    part.type === 'opaque' && !isBlock(part.value) ? [choiceNotes(part.value)] : [],
  );
  return Object.fromEntries(merged.flatMap((note) => Object.entries(note)));
}
