import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { ReplyFault, type ReplyContext, type StreamDecoder } from '../format.ts';
import { isObject, objectOf } from '../json/object.ts';
import { numberOf, parseJson, stringOf } from '../json/read.ts';
import { readSse, SseCutter, type SseEvent } from '../sse/event-stream.ts';
import { EventTooLarge } from '../sse/held-bytes.ts';
import { ResponseReader } from './decode-reply.ts';
import { failureIn, interrupted, unreadable } from './errors.ts';

export const decodeStream = (reply: ReplyContext): StreamDecoder => new ResponseStreamDecoder(reply);

/** A stream is complete when its last event says so: anything else is a cut. */
class ResponseStreamDecoder implements StreamDecoder {
  readonly #cutter = new SseCutter();
  readonly #reader: ResponseReader;
  progress = 0;

  get begun(): boolean {
    return this.#reader.begun;
  }

  constructor(reply: ReplyContext) {
    this.#reader = new ResponseReader(reply);
  }

  push(bytes: Buffer): readonly GenerationEvent[] {
    if (this.#reader.ended) return [];
    try {
      const whole = this.#cutter.push(bytes);
      if (whole) this.#read(whole, false);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.#reader.fail(error.toFailure());
    }
    return this.#reader.drain();
  }

  end(): readonly GenerationEvent[] {
    if (!this.#reader.ended) this.#read(this.#cutter.rest(), true);
    this.#reader.fail(interrupted());
    return this.#reader.drain();
  }

  #read(whole: Buffer, closing: boolean): void {
    for (const event of readSse(whole)) {
      if (this.#reader.ended) return;
      if (feed(this.#reader, event, closing)) this.progress += 1;
    }
  }
}

/** Feeds one event to the reader. False for keep-alives. */
export function feed(reader: ResponseReader, { event, data }: SseEvent, closing: boolean): boolean {
  if (data === '[DONE]') return false;
  const json = parseJson(data);
  if (!isObject(json)) {
    reader.fail(closing ? interrupted() : unreadable('The upstream sent an event that is not JSON.'));
    return false;
  }
  const type = stringOf(json.type) ?? event;
  if (type === undefined || type === 'error') {
    const failure = failureIn(json, event);
    if (failure) reader.fail(failure);
    return failure !== undefined;
  }
  // Azure and proxies keep the connection alive with events that are not the API's.
  if (!type.startsWith('response.')) return false;
  try {
    read(reader, type.slice('response.'.length), json);
  } catch (error) {
    if (!(error instanceof ReplyFault)) throw error;
    reader.fail(unreadable(`The upstream sent a reply that cannot be read: ${error.message}.`));
  }
  return true;
}

function read(reader: ResponseReader, name: string, event: JsonObject): void {
  if (name.endsWith('.delta')) return readDelta(reader, name, event);
  const response = objectOf(event.response) ?? {};
  const at = numberOf(event.output_index) ?? 0;
  switch (name) {
    case 'created':
      return reader.begin(response);
    case 'output_item.added':
      return reader.open(objectOf(event.item) ?? {}, at);
    case 'output_item.done':
      return reader.item(objectOf(event.item) ?? {}, at);
    case 'output_text.annotation.added':
      return reader.annotation(event.annotation);
    case 'completed':
    case 'incomplete':
      return reader.finish({ status: name, ...response });
    case 'failed': {
      const failure = failureIn({ ...response, status: 'failed' });
      return reader.fail(failure ?? unreadable('The upstream reported a failure without a message.'));
    }
  }
}

function readDelta(reader: ResponseReader, name: string, event: JsonObject): void {
  const at = numberOf(event.output_index) ?? 0;
  const part = numberOf(event.content_index) ?? numberOf(event.summary_index) ?? 0;
  const delta = stringOf(event.delta) ?? '';
  switch (name) {
    case 'output_text.delta':
      reader.text(at, part, delta);
      return reader.logprobs(event.logprobs);
    case 'refusal.delta':
      return reader.refusal(at, delta);
    // `reasoning` is the event of Open Responses.
    case 'reasoning_summary_text.delta':
    case 'reasoning_text.delta':
    case 'reasoning.delta':
      return reader.thinking(at, part, delta);
    case 'function_call_arguments.delta':
    case 'custom_tool_call_input.delta':
      return reader.argument(at, delta);
  }
}
