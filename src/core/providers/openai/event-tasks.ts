import type { JsonObject } from '../../../formats/conversation.ts';
import { withCount } from '../../../formats/broken-generation.ts';
import { type GenerationEvent, type Signals, type Usage, createSignals } from '../../../formats/events.ts';
import { ReplyFault } from '../../../formats/faults.ts';
import type { PassThrough } from '../../../formats/format.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import { usageMember, usageRequest } from '../../../formats/openai-chat/stream-usage.ts';
import type { JsonSpan } from '../../../formats/json/members.ts';
import { usageEvent } from '../../../formats/openai-chat/reply-fields.ts';
import { observe } from '../../../formats/streams/signals.ts';
import { PlainPassThrough } from '../../../formats/streams/plain-pass-through.ts';
import type { PassThroughCodec } from '../codec.ts';
import { EventPassThrough, type EventRules } from './event-pass-through.ts';
import { streamsByField, renameModel, withoutFields, decodeTaskUsage } from './task-fields.ts';
import { addUsages } from '../usage-sum.ts';
import { IMAGE_EXTENSIONS } from '../../../formats/openai-chat/extensions.ts';
import { asImageEvents } from '../../../formats/streams/openai-image-events.ts';

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
      if (!usage && drafting) return;
      // Each image reports its own usage.
      const more = usageOf(usage, drafting ? 0 : 1);
      signals.usage = signals.usage ? addUsages([signals.usage, more]) : more;
    },
    isCut: () => images === 0 || drafting,
  };
}

/** The most bytes of a JSON reply that are kept to find its usage. A transcription of an hour with words has about 1 MB. */
const MAX_READ_BYTES = 2 * 1024 * 1024;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Bytes pass through at once. A JSON reply is also kept, within a bound, for its usage and for an error in a 200. */
class MediaPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  #kept: Buffer[] | undefined;
  #bytes = 0;

  constructor(contentType: string | undefined) {
    this.#kept = JSON_TYPE.test(contentType ?? '') ? [] : undefined;
    // Each piece of sound is of use before the rest. A JSON reply is not.
    this.signals.flows = this.#kept === undefined;
  }

  push(bytes: Buffer): Buffer {
    this.#bytes += bytes.length;
    this.signals.progress += 1;
    this.signals.content = this.signals.answered = true;
    if (this.#bytes > MAX_READ_BYTES) this.#kept = undefined;
    this.#kept?.push(bytes);
    return bytes;
  }

  end(): undefined {
    const body = this.#kept && parseJson(Buffer.concat(this.#kept).toString());
    this.#kept = undefined;
    const failure = isObject(body) ? failureOfEvent(undefined, body) : undefined;
    if (failure) this.signals.failure = failure;
    else this.signals.ended = true;
    if (!isObject(body)) return;
    this.signals.usage = decodeTaskUsage(body.usage);
    if (typeof body.model === 'string') this.signals.model = body.model;
  }
}

/** The events of speech and of transcriptions: `….delta`, and at the end `….done` with the usage. */
function mediaRules(): EventRules {
  let done = false;
  return {
    decodePlain: (body) => {
      const failure = failureOfEvent(undefined, body);
      return [failure ? { type: 'error', failure } : { type: 'end' }];
    },
    plainAsEvents: (body) => `data: ${JSON.stringify(body)}\n\n`,
    note(signals, type, { usage }) {
      signals.content = signals.answered = true;
      if (!type?.endsWith('.done')) return;
      done = true;
      signals.ended = true;
      const counted = decodeTaskUsage(usage);
      if (counted) signals.usage = counted;
    },
    noteMarker(signals) {
      done = true;
      signals.ended = true;
    },
    isCut: () => !done,
  };
}

/** Sound, text, subtitles, JSON or events: the reply is what `response_format`, `stream` or `stream_format` request. */
const MEDIA = {
  mode: 'pass-through',
  edits: renameModel,
  openReader: (model: string, stream: boolean, contentType?: string) =>
    stream ? new EventPassThrough(mediaRules(), model) : new MediaPassThrough(contentType),
} as const;

/** docs/protocols/audio.md#speech */
export const openAiSpeech: PassThroughCodec = { ...MEDIA, streams: (body) => body.value('stream_format') === 'sse' };

export const openAiTranscriptions: PassThroughCodec = { ...MEDIA, streams: streamsByField };
