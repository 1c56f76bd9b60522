import type { GenerationEvent, Usage } from '../../formats/events.ts';
import { ReplyFault } from '../../formats/format.ts';
import { isObject } from '../../formats/json/object.ts';
import { failureOfEvent } from '../../formats/openai-chat/errors.ts';
import { IMAGE_EXTENSIONS } from '../../formats/openai-chat/extensions.ts';
import { asImageEvents } from '../../formats/streams/openai-image-events.ts';
import { PlainPassThrough } from '../../formats/streams/plain-pass-through.ts';
import type { PassThroughCodec } from '../codec.ts';
import { renameModel } from './embeddings.ts';
import { EventPassThrough, type EventRules } from './event-pass-through.ts';
import { streamsByField, withoutFields } from './task-extensions.ts';
import { decodeTaskUsage } from './task-usage.ts';

/** Images of OpenAI, Azure and compatible servers: bytes pass through, except for the model's name in the request. */
export const openAiImages: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  clean: withoutFields(IMAGE_EXTENSIONS),
  streams: streamsByField,
  openReader: (model, stream) =>
    stream ? new EventPassThrough(imageRules(), model) : new PlainPassThrough(decodeImages, model),
};

/** Decodes a plain reply. A 2xx without an image is a fault: another attempt may return one. */
function decodeImages(body: unknown): GenerationEvent[] {
  const failure = failureOfEvent(undefined, body);
  if (failure) return [{ type: 'error', failure }];
  if (!isObject(body) || !Array.isArray(body.data) || !body.data.some(hasImage))
    throw new ReplyFault('it contains no images');
  const usage = decodeTaskUsage(body.usage);
  return [...(usage ? [{ type: 'usage', usage } as const] : []), { type: 'end' }];
}

/** True for an image given as bytes or as a URL. */
const hasImage = (entry: unknown): boolean =>
  isObject(entry) && [entry.b64_json, entry.url].some((value) => typeof value === 'string' && value !== '');

/**
 * A stream of images: drafts, then each complete image (docs/protocols/images.md#openai-stream). Nothing marks the end of the
 * stream, so a stream counts as cut if it has no image, or a draft without its image.
 */
function imageRules(): EventRules {
  let images = 0;
  let drafting = false;
  return {
    decodePlain: decodeImages,
    plainAsEvents: asImageEvents,
    note(signals, type, { usage }) {
      if (type?.endsWith('.partial_image')) drafting = true;
      else if (type?.endsWith('.completed')) drafting = false;
      else return;
      if (!drafting) images += 1;
      signals.content = true;
      const counted = decodeTaskUsage(usage);
      if (counted) signals.usage = addImageUsage(signals.usage, counted);
    },
    isCut: () => images === 0 || drafting,
  };
}

/** Adds the usage of one image of a stream: each image reports its own. */
function addImageUsage(sum: Usage | undefined, more: Usage): Usage {
  if (!sum) return more;
  const cacheRead = (sum.cacheRead ?? 0) + (more.cacheRead ?? 0);
  return {
    input: sum.input + more.input,
    output: sum.output + more.output,
    total: sum.total + more.total,
    ...(cacheRead > 0 && { cacheRead }),
  };
}
