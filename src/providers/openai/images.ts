import { parseJson } from '../../formats/json/read.ts';
import {
  createSignals,
  type GenerationEvent,
  type Signals,
  type UpstreamFailure,
  type Usage,
} from '../../formats/events.ts';
import { ReplyFault, type PassThrough } from '../../formats/format.ts';
import { failureOfEvent, CUT_SHORT, GARBLED, streamInterrupted, tooLarge } from '../../formats/openai-chat/errors.ts';
import { PlainPassThrough } from '../../formats/streams/plain-pass-through.ts';
import { IMAGE_EXTENSIONS } from '../../formats/openai-chat/extensions.ts';
import type { PassThroughCodec } from '../codec.ts';
import { withoutFields } from './task-extensions.ts';
import { renameModel } from './embeddings.ts';
import { isObject } from '../../formats/json/object.ts';
import { EventTooLarge } from '../../formats/sse/held-bytes.ts';
import { eventEnds, readSse, SseCutter } from '../../formats/sse/event-stream.ts';
import { asImageEvents } from '../../formats/streams/openai-image-events.ts';
import { StreamStart } from '../../formats/sse/stream-start.ts';
import { OPEN_OBJECT, OPEN_ARRAY } from '../../formats/json/scan.ts';
import { compact } from '../../formats/json/compact.ts';

/** Images of OpenAI, Azure and compatible servers: bytes pass through, except for the model's name in the request. */
export const openAiImages: PassThroughCodec = {
  mode: 'pass-through',
  edits: renameModel,
  clean: withoutFields(IMAGE_EXTENSIONS),
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

type DecodeImages = (body: unknown) => readonly GenerationEvent[];

/**
 * A stream of images: drafts, then each complete image (docs/protocols/images.md#openai-stream). Complete events pass through as
 * the received bytes. Nothing marks the end of the stream, so a stream counts as cut if it has no image, or a draft without its
 * image.
 */
class ImageStream implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #model: string;
  readonly #decodeImages: DecodeImages;
  readonly #cutter = new SseCutter();
  /** For a server that sends a plain reply to a request for a stream. */
  #whole: PlainPassThrough | undefined;
  readonly #start = new StreamStart();
  #begun = false;
  #stopped = false;
  #images = 0;
  #drafting = false;

  constructor(model: string, decodeImages: DecodeImages) {
    this.#model = model;
    this.#decodeImages = decodeImages;
  }

  push(received: Buffer): Buffer | undefined {
    if (this.#stopped) return undefined;
    const bytes = this.#begun ? received : this.#begin(received);
    if (this.#whole) return this.#whole.push(bytes);
    try {
      const events = this.#cutter.push(bytes);
      return events && this.#pass(events);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.#fail(tooLarge(error));
      return undefined;
    }
  }

  end(): Buffer | undefined {
    if (this.#stopped) return undefined;
    if (this.#whole) return this.#whole.end();
    const last = this.#passRest(this.#cutter.rest());
    if (this.#stopped) return last;
    if (this.#images === 0 || this.#drafting) this.#fail(streamInterrupted(CUT_SHORT));
    else this.signals.ended = true;
    return last;
  }

  #begin(received: Buffer): Buffer {
    const { bytes, first } = this.#start.read(received);
    if (first === undefined) return bytes;
    this.#begun = true;
    if (bytes[first] !== OPEN_OBJECT && bytes[first] !== OPEN_ARRAY) return bytes;
    const write = ({ body }: { body: unknown }): Buffer => Buffer.from(isObject(body) ? asImageEvents(body) : '');
    this.#whole = new PlainPassThrough(this.#decodeImages, this.#model, write, this.signals);
    return bytes.subarray(first);
  }

  /** Adds the blank line that the last event may lack, because the client would wait for it. A cut event does not parse. */
  #passRest(rest: Buffer): Buffer | undefined {
    return rest.length === 0 ? undefined : this.#pass(Buffer.concat([rest, Buffer.from('\n\n')]), CUT_SHORT);
  }

  /** The events to forward: all of them, or those before an event that is a failure. */
  #pass(events: Buffer, garbled = GARBLED): Buffer | undefined {
    let from = 0;
    for (const to of eventEnds(events)) {
      const failure = this.#inspect(events.subarray(from, to), garbled);
      if (failure) {
        this.#fail(failure);
        return from > 0 ? events.subarray(0, from) : undefined;
      }
      from = to;
    }
    return events;
  }

  #inspect(bytes: Buffer, garbled: string): UpstreamFailure | undefined {
    for (const { event, data } of readSse(bytes)) {
      // Some servers end every stream with the end marker of chat completions.
      if (data.trim() === '' || data.startsWith('[DONE]')) continue;
      const payload = parseJson(data);
      if (payload === undefined) return streamInterrupted(garbled);
      const type = isObject(payload) && typeof payload.type === 'string' ? payload.type : event;
      const failure = failureOfEvent(type, payload);
      if (failure) return failure;
      this.signals.progress += 1;
      if (isObject(payload) && type !== undefined) this.#note(type, payload.usage);
    }
    return undefined;
  }

  #note(type: string, usage: unknown): void {
    if (type.endsWith('.partial_image')) this.#drafting = true;
    else if (type.endsWith('.completed')) this.#drafting = false;
    else return;
    if (!this.#drafting) this.#images += 1;
    this.signals.content = true;
    const counted = decodeImageUsage(usage);
    if (counted) this.signals.usage = addImageUsage(this.signals.usage, counted);
  }

  #fail(failure: UpstreamFailure): void {
    this.signals.failure = failure;
    this.#stopped = true;
  }
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Usage of images, which has names of its own (docs/protocols/images.md#image-usage). Undefined without token counts. */
function decodeImageUsage(raw: unknown): Usage | undefined {
  if (!isObject(raw)) return undefined;
  const input = count(raw.input_tokens);
  const output = count(raw.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {};
  return compact({
    input: input ?? 0,
    output: output ?? 0,
    total: count(raw.total_tokens) ?? (input ?? 0) + (output ?? 0),
    cacheRead: count(details.cached_tokens),
  });
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
