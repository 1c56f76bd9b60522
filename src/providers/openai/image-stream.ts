import { createSignals, type GenerationEvent, type Signals, type UpstreamFailure } from '../../formats/events.ts';
import type { PassThrough } from '../../formats/format.ts';
import { CUT_SHORT, failureOfEvent, GARBLED, streamInterrupted, tooLarge } from '../../formats/openai-chat/errors.ts';
import { PlainPassThrough } from '../../formats/streams/plain-pass-through.ts';
import { EventTooLarge } from '../../formats/sse/held-bytes.ts';
import { eventEnds, readSse, SseCutter } from '../../formats/sse/event-stream.ts';
import { asImageEvents } from '../../formats/streams/openai-image-events.ts';
import { StreamStart } from '../../formats/sse/stream-start.ts';
import { addImageUsage, decodeImageUsage } from './image-usage.ts';
import { isObject } from '../../formats/json/object.ts';
import { OPEN_OBJECT, OPEN_ARRAY } from '../../formats/json/scan.ts';

type DecodeImages = (body: unknown) => readonly GenerationEvent[];

/**
 * A stream of images: drafts, then each complete image (docs/protocols/images.md#openai-stream). Complete events pass through as
 * the received bytes. Nothing marks the end of the stream, so a stream counts as cut if it has no image, or a draft without its
 * image.
 */
export class ImageStream implements PassThrough {
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
      const payload = parse(data);
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

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
