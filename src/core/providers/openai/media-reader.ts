import { createSignals, type Signals } from '../../../formats/events.ts';
import type { PassThrough } from '../../../formats/format.ts';
import { isObject } from '../../../formats/json/object.ts';
import { parseJson } from '../../../formats/json/read.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import { type EventRules, EventPassThrough } from './event-pass-through.ts';
import { decodeTaskUsage, streamsByField, renameModel } from './task-fields.ts';
import type { PassThroughCodec } from '../codec.ts';

/** The most bytes of a JSON reply that are kept to find its usage. A transcription of an hour with words has about 1 MB. */
const MAX_READ_BYTES = 2 * 1024 * 1024;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Bytes pass through at once. A JSON reply is also kept, within a bound, for its usage and for an error in a 200. */
export class MediaPassThrough implements PassThrough {
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
export function mediaRules(): EventRules {
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
