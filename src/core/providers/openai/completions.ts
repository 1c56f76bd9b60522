import type { JsonObject } from '../../../formats/conversation.ts';
import { withCount } from '../../../formats/broken-generation.ts';
import type { GenerationEvent, Signals } from '../../../formats/events.ts';
import { ReplyFault } from '../../../formats/format.ts';
import { isObject } from '../../../formats/json/object.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import { usageMember, usageRequest } from '../../../formats/openai-chat/stream-usage.ts';
import type { JsonSpan } from '../../../formats/json/members.ts';
import { usageEvent } from '../../../formats/openai-chat/reply-fields.ts';
import { observe } from '../../../formats/streams/signals.ts';
import { PlainPassThrough } from '../../../formats/streams/plain-pass-through.ts';
import type { PassThroughCodec } from '../codec.ts';
import { EventPassThrough, type EventRules } from './event-pass-through.ts';
import { streamsByField, renameModel } from './task-fields.ts';

/** Bytes pass through, except for the model's name in the request and usage that the client has not requested. */
export const openAiCompletions: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  streams: streamsByField,
  usageRequest,
  openReader: (model, stream, _contentType, form) =>
    stream
      ? new EventPassThrough(completionRules(form?.hidesUsage ?? false), model)
      : new PlainPassThrough(decodeCompletion, model),
};

function decodeCompletion(body: unknown): readonly GenerationEvent[] {
  const failure = failureOfEvent(undefined, body);
  if (failure) {
    const counted = isObject(body) ? usageEvent(body.usage) : undefined;
    return [...(counted ? [counted] : []), { type: 'error', failure: withCount(failure, counted) }];
  }
  if (!isObject(body) || !Array.isArray(body.choices) || body.choices.length === 0)
    throw new ReplyFault('it contains no completion');
  const usage = usageEvent(body.usage);
  return [
    { type: 'start', ...(typeof body.model === 'string' && { model: body.model }) },
    { type: 'text', choice: 0, block: 0, text: textsOf(body).join('') },
    ...(usage ? [usage] : []),
    { type: 'end' },
  ];
}

/** A chunk with a `finish_reason` and the marker `[DONE]` both end the stream: some servers omit the marker. */
function completionRules(hidesUsage: boolean): EventRules {
  let finished = false;
  return {
    decodePlain: decodeCompletion,
    // A complete reply is a chunk with all of its text (docs/protocols/completions.md#stream).
    plainAsEvents: (body) =>
      `data: ${JSON.stringify(hidesUsage ? { ...body, usage: undefined } : body)}\n\ndata: [DONE]\n\n`,
    ...(hidesUsage && { hidden: hiddenUsage }),
    note(signals: Signals, _type, payload) {
      const usage = usageEvent(payload.usage);
      if (usage) observe(signals, [usage]);
      if (typeof payload.model === 'string') signals.model ??= payload.model;
      const text = textsOf(payload).join('');
      signals.text += text.length;
      if (text !== '') signals.content = signals.answered = true;
      if (choicesOf(payload).some(({ finish_reason: reason }) => typeof reason === 'string')) {
        finished = true;
        signals.content = true;
      }
    },
    noteMarker(signals) {
      finished = true;
      signals.ended = true;
    },
    isCut: () => !finished,
  };
}

/** The event of usage, whole, and `usage: null` of the others: a client that did not request usage gets neither. */
function hiddenUsage(event: string, { choices, usage }: JsonObject): JsonSpan | undefined {
  if (isObject(usage) && Array.isArray(choices) && choices.length === 0) return { from: 0, to: event.length };
  return usageMember(event);
}

const choicesOf = ({ choices }: JsonObject): JsonObject[] => (Array.isArray(choices) ? choices.filter(isObject) : []);

const textsOf = (body: JsonObject): string[] =>
  choicesOf(body).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
