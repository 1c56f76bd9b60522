import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext, StreamDecoder } from '../format.ts';
import { isObject, objectOf, numberOf, parseJson, stringOf } from '../json/object.ts';
import { readSse, SseCutter, type SseEvent } from '../sse/event-stream.ts';
import { ResponseReader, type PartKind } from './response-reader.ts';
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
    const whole = this.#cutter.push(bytes);
    if (whole) this.#read(whole, false);
    else if (this.#cutter.failure) this.#reader.fail(this.#cutter.failure);
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
  reader.isPlaced = numberOf(event.output_index) !== undefined;
  const kind = KINDS.get(name.slice(0, name.lastIndexOf('.')));
  if (kind) return readPart(reader, kind, name, event);
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
      return reader.annotation(at, partOf(event), event.annotation);
    case 'content_part.done':
      return reader.part(
        at,
        objectOf(event.part)?.type === 'reasoning_text' ? 'content' : 'text',
        partOf(event),
        event.part,
      );
    case 'reasoning_summary_part.done':
      return reader.part(at, 'summary', partOf(event), event.part);
    case 'completed':
    case 'incomplete':
    case 'cancelled':
    case 'failed': {
      const ended = name === 'failed' ? { ...response, status: name } : { status: name, ...response };
      const failure = failureIn(ended);
      return failure ? reader.failed(response, failure) : reader.finish(ended);
    }
  }
}

const numberedPart = (event: JsonObject): number | undefined =>
  numberOf(event.content_index) ?? numberOf(event.summary_index);
const partOf = (event: JsonObject): number => numberedPart(event) ?? 0;

/** Events of parts, `….delta` and `….done`. `reasoning` is that of Open Responses. */
const KINDS: ReadonlyMap<string, PartKind> = new Map([
  ['output_text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_summary_text', 'summary'],
  ['reasoning_text', 'content'],
  ['reasoning', 'content'],
  ['function_call_arguments', 'arguments'],
  ['custom_tool_call_input', 'arguments'],
]);

/** A `done` has the whole part, under a name of its own. */
function readPart(reader: ResponseReader, kind: PartKind, name: string, event: JsonObject): void {
  const at = numberOf(event.output_index) ?? 0;
  if (kind !== 'arguments') reader.isPlaced &&= numberedPart(event) !== undefined;
  if (name.endsWith('.delta')) {
    reader.add(at, kind, partOf(event), stringOf(event.delta) ?? '');
    if (kind === 'text') reader.logprobs(event.logprobs);
  } else if (name.endsWith('.done')) {
    const whole = event.text ?? event.refusal ?? event.arguments ?? event.input;
    if (reader.fill(at, kind, partOf(event), whole) && kind === 'text') reader.logprobs(event.logprobs);
  }
}
