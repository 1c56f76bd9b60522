import type { GenerationEvent, Usage } from '../../../formats/events.ts';
import { ReplyFault } from '../../../formats/format.ts';
import { addUsages } from '../../../formats/usage-sum.ts';
import { isObject } from '../../../formats/json/object.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import { IMAGE_EXTENSIONS } from '../../../formats/openai-chat/extensions.ts';
import { asImageEvents } from '../../../formats/streams/openai-image-events.ts';
import { PlainPassThrough } from '../../../formats/streams/plain-pass-through.ts';
import type { PassThroughCodec } from '../codec.ts';
import { EventPassThrough, type EventRules } from './event-pass-through.ts';
import { streamsByField, withoutFields, decodeTaskUsage, renameModel } from './task-fields.ts';

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
  const images = isObject(body) && Array.isArray(body.data) ? body.data.filter(hasImage).length : 0;
  if (!isObject(body) || images === 0) throw new ReplyFault('it contains no images');
  return [{ type: 'usage', usage: usageOf(body.usage, images) }, { type: 'end' }];
}

/** Models that count no tokens charge pictures by number. Output that the reply does not split is that of pictures alone. */
function usageOf(raw: unknown, images: number): Usage {
  const counted = decodeTaskUsage(raw);
  if (!counted) return { input: 0, output: 0, total: 0, images };
  return { ...counted, outputImage: counted.outputImage ?? counted.output, images };
}

const hasImage = (entry: unknown): boolean =>
  isObject(entry) && [entry.b64_json, entry.url].some((value) => typeof value === 'string' && value !== '');

/** Drafts, then each complete image (docs/protocols/images.md#openai-stream). Nothing marks the end of the stream. */
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
      if (usage || !drafting) signals.usage = addUsage(signals.usage, usageOf(usage, drafting ? 0 : 1));
    },
    isCut: () => images === 0 || drafting,
  };
}

const addUsage = (sum: Usage | undefined, more: Usage): Usage => (sum ? addUsages([sum, more]) : more);
