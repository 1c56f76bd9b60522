import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ReplyContext, StreamDecoder } from '../format.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import { EventBytes } from '../sse/event-bytes.ts';
import { eventEnd, hasReturns, readRecords, SseCutter, sseText, type SseEvent } from '../sse/event-stream.ts';
import { MessageReader } from './decode-reply.ts';
import { PlainDelta, textDeltas, type DeltaSource } from './plain-delta.ts';
import { failureOf, interrupted, unreadable } from './errors.ts';
import { isObject, objectOf, numberOf, parseJson } from '../json/object.ts';

/**
 * Events that this format knows (docs/protocols/anthropic-messages.md#stream). An event with another name (`vertex_event`,
 * docs/protocols/vertex-ai.md#claude-events) may hold anything and is skipped.
 */
const KNOWN = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
]);

export function decodeStream(reply: ReplyContext, _notes?: LossNotes, literals = false): StreamDecoder {
  return new MessagesStreamDecoder(reply, new PlainDelta(), literals);
}

export class MessagesStreamDecoder implements StreamDecoder {
  readonly #cutter = new SseCutter();
  readonly #reader: MessageReader;
  readonly #plain: DeltaSource;
  /** The events may have `literals`. */
  readonly #literals: boolean;
  #closing = false;

  get progress(): number {
    return this.#reader.progress;
  }

  get begun(): boolean {
    return this.#reader.begun;
  }

  constructor(reply: ReplyContext, plain: DeltaSource, literals: boolean) {
    this.#reader = new MessageReader(reply);
    this.#plain = plain;
    this.#literals = literals;
  }

  push(bytes: Buffer): readonly GenerationEvent[] {
    if (this.#reader.finished) return [];
    const whole = this.#cutter.push(bytes);
    if (whole) this.#read(whole);
    else if (this.#cutter.failure) this.#reader.fail(this.#cutter.failure);
    return this.#reader.drain();
  }

  /**
   * The last record may lack its blank line. A reply with a `stop_reason` is complete even without `message_stop`:
   * proxies omit it, and all content comes before both (docs/protocols/anthropic-messages.md#block-order). A reply with
   * neither was cut.
   */
  end(): readonly GenerationEvent[] {
    const reader = this.#reader;
    this.#closing = true;
    if (!reader.finished) this.#read(this.#cutter.rest());
    if (!reader.finished) {
      if (reader.stopped) reader.end();
      else reader.fail(interrupted());
    }
    return reader.drain();
  }

  #read(whole: Buffer): void {
    const bytes = this.#literals && this.#reader.expectsText ? EventBytes.of(whole) : undefined;
    if (bytes) this.#readBytes(bytes);
    else this.#readText(sseText(whole));
  }

  /** Does what `#readText` does, with text deltas that pass as literals. */
  #readBytes(bytes: EventBytes): void {
    const { view } = bytes;
    const returns = hasReturns(view);
    const isText = (index: number): boolean => this.#reader.isText(index);
    for (let from = 0, to = 0; from < view.length && !this.#reader.finished; from = to) {
      const deltas = textDeltas(view, from, isText);
      if (deltas) {
        this.#reader.texts(deltas);
        to = deltas.end;
      } else if ((to = this.#plain.read(view, from, true)) > 0) this.#readPlain();
      else this.#readText(bytes.text(from, (to = eventEnd(view, from, returns))));
    }
  }

  #readPlain(): void {
    this.#reader.progress += 1;
    this.#reader.delta(this.#plain.index, this.#plain.delta);
  }

  #readText(text: string): void {
    const returns = hasReturns(text);
    for (let from = 0, to = 0; from < text.length; from = to) {
      if (this.#reader.finished) return;
      if ((to = this.#plain.read(text, from)) > 0) {
        this.#readPlain();
        continue;
      }
      to = eventEnd(text, from, returns);
      for (const record of readRecords(text.slice(from, to))) feed(this.#reader, record, this.#closing);
    }
  }
}

/** Feeds one record to the reader. `closing`: the record is the rest of a closed stream. */
export function feed(reader: MessageReader, { event, data }: SseEvent, closing: boolean): void {
  const parsed = parseJson(data);
  // Google's platform may wrap its error in a list of one, in a stream too (docs/protocols/gemini.md#array-errors).
  const first: unknown = Array.isArray(parsed) ? parsed[0] : undefined;
  const json = isObject(objectOf(first)?.error) ? first : parsed;
  if (isObject(json)) feedEvent(reader, json, event);
  // Half a record at the end means a cut stream; in the middle the reply is unreadable. An event with an unknown name
  // is left to the client. An event without a name fails only if it begins like an object (`[DONE]` does not).
  else if (event === undefined ? data.startsWith('{') : KNOWN.has(event)) {
    if (closing) return reader.fail(interrupted());
    reader.fail(unreadable(`${event === undefined ? 'an' : `a \`${event}\``} event that is not JSON`));
  }
}

function feedEvent(reader: MessageReader, json: JsonObject, name: string | undefined): void {
  const index = numberOf(json.index) ?? 0;
  const type = json.type ?? name;
  if (type !== 'ping' && typeof type === 'string' && KNOWN.has(type)) reader.progress += 1;
  switch (type) {
    case 'content_block_delta':
      return reader.delta(index, objectOf(json.delta) ?? {});
    case 'content_block_start':
      return reader.open(index, objectOf(json.content_block) ?? {});
    case 'content_block_stop':
      return reader.close(index);
    case 'message_start':
      return reader.begin(objectOf(json.message) ?? {});
    case 'message_delta':
      // `context_management` is beside `delta` (recorded), the other fields in it.
      return reader.late({ context_management: json.context_management, ...objectOf(json.delta) }, json.usage);
    case 'message_stop':
      return reader.end();
    case 'ping':
      return reader.ping();
    case 'error':
      return reader.fail(failureOf(json) ?? unreadable('an error event without a message'));
    default:
      // Google's platform reports in its own shape, without a type (docs/protocols/vertex-ai.md#claude-error-shapes).
      if (isObject(json.error)) reader.fail(failureOf(json) ?? unreadable('an error without a message'));
  }
}
