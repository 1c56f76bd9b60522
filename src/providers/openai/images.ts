import type { GenerationEvent } from '../../formats/events.ts';
import { ReplyFault } from '../../formats/format.ts';
import { failureOfEvent } from '../../formats/openai-chat/errors.ts';
import { PlainPassThrough } from '../../formats/streams/plain-pass-through.ts';
import type { PassThroughCodec } from '../codec.ts';
import { ImageStream } from './image-stream.ts';
import { decodeImageUsage } from './image-usage.ts';
import { isObject } from '../../formats/json/object.ts';

/** OpenAI's images, and those of Azure and of servers like it: the caller's bytes but for the model's name, the reply as it came. */
export const openAiImages: PassThroughCodec = {
  mode: 'pass-through',
  edits: (body, model) => (body.value('model') === model ? [] : [{ path: ['model'], value: model, source: 'gateway' }]),
  openReader: (model, stream) =>
    stream ? new ImageStream(model, decodeImages) : new PlainPassThrough(decodeImages, model),
};

/** What a whole reply tells the gateway. A 2xx without an image is of no use to anyone: another attempt may help. */
function decodeImages(body: unknown): GenerationEvent[] {
  const failure = failureOfEvent(undefined, body);
  if (failure) return [{ type: 'error', failure }];
  if (!isObject(body) || !Array.isArray(body.data) || !body.data.some(hasImage))
    throw new ReplyFault('there are no images in it');
  const usage = decodeImageUsage(body.usage);
  return [...(usage ? [{ type: 'usage', usage } as const] : []), { type: 'end' }];
}

/** Its bytes or its address. */
const hasImage = (entry: unknown): boolean =>
  isObject(entry) && [entry.b64_json, entry.url].some((value) => typeof value === 'string' && value !== '');
