import type { GenerationEvent } from '../../formats/events.ts';
import { ReplyFault } from '../../formats/format.ts';
import { failureOfEvent } from '../../formats/openai-chat/errors.ts';
import { PlainPassThrough } from '../../formats/streams/plain-pass-through.ts';
import type { PassThroughCodec } from '../codec.ts';
import { ImageStream } from './image-stream.ts';
import { decodeImageUsage } from './image-usage.ts';
import { isObject } from '../../formats/json/object.ts';

/** Images of OpenAI, Azure and compatible servers: bytes pass through, except for the model's name in the request. */
export const openAiImages: PassThroughCodec = {
  mode: 'pass-through',
  edits: (body, model) => (body.value('model') === model ? [] : [{ path: ['model'], value: model, source: 'gateway' }]),
  openReader: (model, stream) =>
    stream ? new ImageStream(model, decodeImages) : new PlainPassThrough(decodeImages, model),
};

/** Decodes a plain reply. A 2xx without an image is a fault: another attempt may return one. */
function decodeImages(body: unknown): GenerationEvent[] {
  const failure = failureOfEvent(undefined, body);
  if (failure) return [{ type: 'error', failure }];
  if (!isObject(body) || !Array.isArray(body.data) || !body.data.some(hasImage))
    throw new ReplyFault('it contains no images');
  const usage = decodeImageUsage(body.usage);
  return [...(usage ? [{ type: 'usage', usage } as const] : []), { type: 'end' }];
}

/** True for an image given as bytes or as a URL. */
const hasImage = (entry: unknown): boolean =>
  isObject(entry) && [entry.b64_json, entry.url].some((value) => typeof value === 'string' && value !== '');
