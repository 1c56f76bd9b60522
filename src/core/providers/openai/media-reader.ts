import { createSignals, type Signals } from '../../../formats/events.ts';
import type { PassThrough } from '../../../formats/format.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { failureOfEvent } from '../../../formats/openai-chat/errors.ts';
import type { EventRules } from './event-pass-through.ts';
import { decodeTaskUsage } from './task-usage.ts';

/** The most bytes of a JSON reply that are kept to find its usage. A transcription of an hour with words has about 1 MB. */
const MAX_READ_BYTES = 2 * 1024 * 1024;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * A reply whose bytes pass through at once: sound, text, subtitles, and JSON of any form. A JSON reply is also kept, within a bound,
 * for its usage and for the error that a 200 may contain.
 */
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
