import type { JsonObject } from '../conversation.ts';
import { answeredArguments } from '../call-arguments.ts';
import { WrittenText } from '../json/written-text.ts';
import { absorb, isObject, stringOf } from '../json/object.ts';

/** Receives the steps of a message as the Messages API streams them (docs/protocols/anthropic-messages.md#stream). */
export interface MessageSink {
  start(message: JsonObject): void;
  open(index: number, block: JsonObject): void;
  delta(index: number, delta: JsonObject): void;
  close(index: number): void;
  finish(end: MessageEnd): void;
  ping(): void;
}

interface MessageEnd {
  readonly delta: JsonObject;
  /** Late fields that a stream writes beside `delta`. */
  readonly beside: JsonObject;
  readonly usage: JsonObject;
}

/** How text and thinking blocks begin. Shared, so that their JSON is made once. */
export const EMPTY_TEXT: JsonObject = { type: 'text', text: '' };
export const EMPTY_THINKING: JsonObject = { type: 'thinking', thinking: '', signature: '' };
const EMPTY_JSON = new Map([EMPTY_TEXT, EMPTY_THINKING].map((block) => [block, JSON.stringify(block)]));

/** The field that a delta of each type adds. Its text costs JSON.stringify a third of what the object does. */
const ADDS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
  ['input_json_delta', 'partial_json'],
]);

function deltaJson(delta: JsonObject): string {
  const field = ADDS.get(delta.type);
  if (field === undefined) return JSON.stringify(delta);
  return `{"type":"${String(delta.type)}","${field}":${JSON.stringify(delta[field])}}`;
}

/** Writes SSE. SDKs skip records without an event line (docs/protocols/anthropic-messages.md#sdk-accumulator). */
export class StreamSink implements MessageSink {
  readonly #text = new WrittenText();

  take(): string {
    return this.#text.take();
  }

  start(message: JsonObject): void {
    this.#write('message_start', JSON.stringify({ type: 'message_start', message }));
    this.ping();
  }

  open(index: number, content_block: JsonObject): void {
    const block = EMPTY_JSON.get(content_block) ?? JSON.stringify(content_block);
    this.#write('content_block_start', `{"type":"content_block_start","index":${index},"content_block":${block}}`);
  }

  /** The hot path: only what changes is turned into JSON. */
  delta(index: number, delta: JsonObject): void {
    this.#write('content_block_delta', `{"type":"content_block_delta","index":${index},"delta":${deltaJson(delta)}}`);
  }

  close(index: number): void {
    this.#write('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
  }

  finish({ delta, beside, usage }: MessageEnd): void {
    this.#write('message_delta', JSON.stringify({ type: 'message_delta', delta, usage, ...beside }));
    this.#write('message_stop', '{"type":"message_stop"}');
  }

  ping(): void {
    this.#write('ping', '{"type":"ping"}');
  }

  #write(event: string, data: string): void {
    this.#text.add(`event: ${event}\ndata: ${data}\n\n`);
  }
}

/** Assembles a plain reply as the SDK does a stream (docs/protocols/anthropic-messages.md#sdk-accumulator). */
export class PlainSink implements MessageSink {
  message: JsonObject = {};
  readonly #content: JsonObject[] = [];
  readonly #json = new Map<number, string>();
  readonly #citations = new Map<number, unknown[]>();

  start(message: JsonObject): void {
    this.message = { ...message, content: this.#content };
  }

  open(index: number, block: JsonObject): void {
    this.#content[index] = { ...block };
  }

  delta(index: number, delta: JsonObject): void {
    const block = this.#content[index];
    if (!block) return;
    switch (delta.type) {
      case 'text_delta':
        block.text = `${stringOf(block.text) ?? ''}${stringOf(delta.text) ?? ''}`;
        return;
      case 'thinking_delta':
        block.thinking = `${stringOf(block.thinking) ?? ''}${stringOf(delta.thinking) ?? ''}`;
        return;
      case 'signature_delta':
        block.signature = delta.signature;
        return;
      case 'citations_delta':
        this.#cite(index, block, delta.citation);
        return;
      case 'input_json_delta':
        this.#json.set(index, (this.#json.get(index) ?? '') + (stringOf(delta.partial_json) ?? ''));
    }
  }

  /** One list for all citations of a block: a copy for each of them would cost the square of their number. */
  #cite(index: number, block: JsonObject, citation: unknown): void {
    let citations = this.#citations.get(index);
    if (!citations) {
      citations = Array.isArray(block.citations) ? [...block.citations] : [];
      this.#citations.set(index, citations);
      block.citations = citations;
    }
    citations.push(citation);
  }

  close(index: number): void {
    const block = this.#content[index];
    const json = this.#json.get(index);
    if (!block || !json) return;
    block.input = answeredArguments(json);
  }

  finish({ delta, beside, usage }: MessageEnd): void {
    const earlier = isObject(this.message.usage) ? this.message.usage : {};
    // In place: a delta may have a hundred thousand fields, which a spread copies one by one.
    absorb(this.message, delta);
    absorb(this.message, beside);
    this.message.usage = { ...earlier, ...usage };
  }

  ping(): void {}
}
