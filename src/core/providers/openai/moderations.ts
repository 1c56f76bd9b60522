import type { GenerationEvent } from '../../../formats/events.ts';
import { createSignals } from '../../../formats/events.ts';
import { ReplyFault } from '../../../formats/format.ts';
import { isObject } from '../../../formats/json/object.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import { PlainPassThrough } from '../../../formats/streams/plain-pass-through.ts';
import type { PassThroughCodec } from '../codec.ts';
import { renameModel } from './embeddings.ts';
import { EVENT_FIELDS, withoutFields } from './task-extensions.ts';

/** Moderations of OpenAI and compatible servers: bytes pass through, except for the model's name in the request. */
export const openAiModerations: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  clean: withoutFields([], EVENT_FIELDS),
  openReader(model) {
    const signals = createSignals();
    const read = (reply: unknown): readonly GenerationEvent[] => {
      const events = decodeModeration(reply);
      signals.content = true;
      return events;
    };
    return new PlainPassThrough(read, model, undefined, signals);
  },
};

/** A reply without a result would look like "nothing to object to". */
function decodeModeration(body: unknown): readonly GenerationEvent[] {
  const failure = failureOfEvent(undefined, body);
  if (failure) return [{ type: 'error', failure }];
  if (!isObject(body) || !Array.isArray(body.results) || body.results.length === 0)
    throw new ReplyFault('it contains no results');
  return [{ type: 'start', ...(typeof body.model === 'string' && { model: body.model }) }, { type: 'end' }];
}
