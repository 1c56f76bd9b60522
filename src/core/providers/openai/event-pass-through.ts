import { withCount } from '../../../formats/broken-generation.ts';
import type { JsonObject } from '../../../formats/conversation.ts';
import { createSignals, type GenerationEvent, type Signals, type UpstreamFailure } from '../../../formats/events.ts';
import type { PassThrough } from '../../../formats/format.ts';
import type { JsonSpan } from '../../../formats/json/members.ts';
import { isObject, parseJson } from '../../../formats/json/object.ts';
import { OPEN_OBJECT, OPEN_ARRAY } from '../../../formats/json/scan.ts';
import { failureOfEvent, CUT_SHORT, GARBLED, streamInterrupted } from '../../../formats/openai-chat/errors.ts';
import { usageEvent } from '../../../formats/openai-chat/reply-fields.ts';
import { observe } from '../../../formats/streams/signals.ts';
import { eventEnds, hasId, readSse, SseCutter } from '../../../formats/sse/event-stream.ts';
import { StreamStart } from '../../../formats/sse/stream-start.ts';
import { PlainPassThrough } from '../../../formats/streams/plain-pass-through.ts';

/** The differences between the event streams of the tasks. One object per reply: it may count. */
export interface EventRules {
  /** Decodes a plain reply, which some servers send to a request for a stream. */
  readonly decodePlain: (body: unknown) => readonly GenerationEvent[];
  readonly plainAsEvents: (body: JsonObject) => string;
  /** Called for each event that is no failure. */
  note(signals: Signals, type: string | undefined, payload: JsonObject): void;
  /** The span of an event that the client does not get. @param event as Latin-1 */
  readonly hidden?: (event: string, payload: JsonObject) => JsonSpan | undefined;
  /** Called with the data of an event that has no JSON: `[DONE]`. */
  readonly noteMarker?: (signals: Signals, data: string) => void;
  isCut(): boolean;
}

/** Server-sent events of a task that is no conversation. Whole events keep their bytes. A failure ends the stream. */
export class EventPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #rules: EventRules;
  readonly #model: string;
  readonly #cutter = new SseCutter();
  #whole: PlainPassThrough | undefined;
  readonly #start = new StreamStart();
  #begun = false;
  #stopped = false;
  /** Of the event that was inspected last. */
  #payload: JsonObject | undefined;

  constructor(rules: EventRules, model: string) {
    this.#rules = rules;
    this.#model = model;
  }

  push(received: Buffer): Buffer | undefined {
    if (this.#stopped) return undefined;
    const bytes = this.#begun ? received : this.#begin(received);
    if (this.#whole) return this.#whole.push(bytes);
    const events = this.#cutter.push(bytes);
    if (this.#cutter.failure) this.#fail(this.#cutter.failure);
    return events && this.#pass(events);
  }

  end(): Buffer | undefined {
    if (this.#stopped) return undefined;
    if (this.#whole) return this.#whole.end();
    const last = this.#passRest(this.#cutter.rest());
    if (this.#stopped) return last;
    if (this.#rules.isCut()) this.#fail(streamInterrupted(CUT_SHORT));
    else this.signals.ended = true;
    return last;
  }

  #begin(received: Buffer): Buffer {
    const { bytes, first } = this.#start.read(received);
    if (first === undefined) return bytes;
    this.#begun = true;
    if (bytes[first] !== OPEN_OBJECT && bytes[first] !== OPEN_ARRAY) return bytes;
    const write = ({ body }: { body: unknown }): Buffer =>
      Buffer.from(isObject(body) ? this.#rules.plainAsEvents(body) : '');
    this.#whole = new PlainPassThrough(this.#rules.decodePlain, this.#model, write, this.signals);
    return bytes.subarray(first);
  }

  /** Adds the blank line that the last event may lack, because the client would wait for it. A cut event does not parse. */
  #passRest(rest: Buffer): Buffer | undefined {
    return rest.length === 0 ? undefined : this.#pass(Buffer.concat([rest, Buffer.from('\n\n')]), CUT_SHORT);
  }

  /** The events to forward: all of them, or those before an event that is a failure, without what the client does not get. */
  #pass(events: Buffer, garbled = GARBLED): Buffer | undefined {
    const pieces: Buffer[] = [];
    let from = 0;
    let kept = 0;
    for (const to of eventEnds(events)) {
      const event = events.subarray(from, to);
      const failure = this.#inspect(event, garbled);
      if (failure) {
        this.#fail(failure);
        return joined([...pieces, events.subarray(kept, from)]);
      }
      if (this.#payload && this.#rules.hidden) {
        const hidden = this.#rules.hidden(event.toString('latin1'), this.#payload);
        if (hidden) {
          pieces.push(events.subarray(kept, from + hidden.from));
          kept = from + hidden.to;
        }
      }
      from = to;
    }
    return kept === 0 ? events : joined([...pieces, events.subarray(kept)]);
  }

  #inspect(bytes: Buffer, garbled: string): UpstreamFailure | undefined {
    this.#payload = undefined;
    if (hasId(bytes)) this.signals.named = true;
    for (const { event, data } of readSse(bytes)) {
      if (data.trim() === '') continue;
      // Some servers end every stream with the end marker of chat completions.
      if (data.startsWith('[DONE]')) {
        this.#rules.noteMarker?.(this.signals, data);
        continue;
      }
      const payload = parseJson(data);
      if (payload === undefined) return streamInterrupted(garbled);
      const type = isObject(payload) && typeof payload.type === 'string' ? payload.type : event;
      const failure = failureOfEvent(type, payload);
      if (failure) {
        const counted = isObject(payload) ? usageEvent(payload.usage) : undefined;
        if (counted) observe(this.signals, [counted]);
        return withCount(failure, counted);
      }
      this.signals.progress += 1;
      if (!isObject(payload)) continue;
      this.#rules.note(this.signals, type, payload);
      this.#payload = payload;
    }
    return undefined;
  }

  #fail(failure: UpstreamFailure): void {
    this.signals.failure = failure;
    this.#stopped = true;
  }
}

function joined(pieces: readonly Buffer[]): Buffer | undefined {
  const whole = Buffer.concat(pieces);
  return whole.length > 0 ? whole : undefined;
}
