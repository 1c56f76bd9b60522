import type { Json } from './recordings.ts';

/** The fields of a Messages reply that the tests look at (docs/protocols/anthropic-messages.md#reply). */
export interface Message {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly role?: unknown;
  readonly model?: unknown;
  readonly content: readonly Json[];
  readonly stop_reason?: unknown;
  readonly usage: Json;
}

export interface Folded {
  readonly message: Message | undefined;
  readonly error: Json | undefined;
  /** Places where the order of events breaks the API's rules (docs/protocols/anthropic-messages.md#block-order). */
  readonly faults: readonly string[];
}

/** Which block takes which delta. */
const TAKES: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
};

/** A stream of Messages events, folded by the rules of the API and not by any client's leniency. */
export function foldMessage(sse: string): Folded {
  const fold = new Fold();
  for (const record of sse.split('\n\n')) {
    if (record.trim() === '') continue;
    const event = /^event: (.*)$/m.exec(record)?.[1];
    const data = /^data: (.*)$/m.exec(record)?.[1];
    if (event === undefined || data === undefined) fold.fault(`a record without event or data: ${record.slice(0, 80)}`);
    else fold.event(event, JSON.parse(data) as Json);
  }
  return fold.end();
}

class Fold {
  readonly #faults: string[] = [];
  readonly #content: Json[] = [];
  #message: Json | undefined;
  #usage: Json = {};
  #json = '';
  #open: number | undefined;
  #deltas = 0;
  #stopped = false;
  #error: Json | undefined;

  fault(what: string): void {
    this.#faults.push(what);
  }

  event(name: string, data: Json): void {
    if (data['type'] !== name) this.fault(`${name} has the type ${String(data['type'])}`);
    if (name === 'ping') return;
    if (this.#stopped || this.#error) this.fault(`${name} after the end`);
    if (name === 'error') this.#error = data['error'] as Json;
    else if (name === 'message_start') this.#start(data['message'] as Json);
    else if (!this.#message) this.fault(`${name} before message_start`);
    else this.#within(name, data);
  }

  #start(message: Json): void {
    if (this.#message) this.fault('a second message_start');
    this.#message = message;
    this.#usage = { ...(message['usage'] as Json) };
  }

  #within(name: string, data: Json): void {
    const index = Number(data['index']);
    switch (name) {
      case 'content_block_start':
        if (this.#open !== undefined) this.fault(`block ${index} opens while ${this.#open} is open`);
        if (index !== this.#content.length) this.fault(`block ${index} where ${this.#content.length} comes`);
        this.#open = index;
        this.#json = '';
        this.#content.push({ ...(data['content_block'] as Json) });
        return;
      case 'content_block_delta':
        if (index !== this.#open) this.fault(`a delta for block ${index} while ${this.#open} is open`);
        return this.#delta(this.#content.at(-1) ?? {}, data['delta'] as Json);
      case 'content_block_stop':
        if (index !== this.#open) this.fault(`block ${index} closes while ${this.#open} is open`);
        this.#close(this.#content.at(-1) ?? {});
        this.#open = undefined;
        return;
      case 'message_delta':
        if (this.#open !== undefined) this.fault(`message_delta while block ${this.#open} is open`);
        this.#deltas += 1;
        Object.assign(this.#message!, data['delta']);
        for (const [key, value] of Object.entries(data['usage'] as Json)) if (value !== null) this.#usage[key] = value;
        return;
      case 'message_stop':
        this.#stopped = true;
        return;
      default:
        this.fault(`an event ${name}`);
    }
  }

  #delta(block: Json, delta: Json): void {
    const type = String(delta['type']);
    if (!(TAKES[String(block['type'])] ?? []).includes(type))
      this.fault(`${type} for a block ${String(block['type'])}`);
    if (type === 'text_delta') block['text'] = String(block['text']) + String(delta['text']);
    if (type === 'thinking_delta') block['thinking'] = String(block['thinking']) + String(delta['thinking']);
    if (type === 'signature_delta') block['signature'] = delta['signature'];
    if (type === 'input_json_delta') this.#json += String(delta['partial_json']);
  }

  #close(block: Json): void {
    if (block['type'] === 'tool_use' && this.#json !== '') block['input'] = JSON.parse(this.#json);
  }

  end(): Folded {
    if (!this.#error && !this.#stopped) this.fault('no message_stop');
    if (!this.#error && this.#deltas !== 1) this.fault(`${this.#deltas} message_delta`);
    if (this.#content.length === 0 && !this.#error) this.fault('no content block');
    const message = this.#message && { ...this.#message, content: this.#content, usage: this.#usage };
    return { message, error: this.#error, faults: this.#faults };
  }
}
