import { joinedBytes } from '../json/literal.ts';

/** The deltas of an answer's text, which alone have log probabilities. */
export const TEXT_DELTA = 'output_text.delta';

/**
 * Receives the events of a response as the API streams them. Names come without `response.`, and JSON and literals with one character
 * per byte (json/literal.ts).
 */
export interface ResponseSink {
  /** The two events with which a response begins. `response` is called by a sink that has them. */
  begin(response: () => string): void;
  /** @param members all fields but the type and the number */
  event(name: string, members: string): void;
  /** A delta: `head` has the members before it, made once for all deltas of a part. */
  delta(name: string, head: string, literal: string): void;
  /** The last event. */
  end(name: string, response: string): void;
}

/**
 * Writes the events as SSE. Clients demand that each has a number and that its name is in the data too
 * (docs/protocols/openai-responses.md#stream).
 *
 * Deltas of a part that were read together leave as one event. A gateway that falls behind its upstreams reads more at once, and so
 * writes fewer events.
 */
export class ResponseStreamSink implements ResponseSink {
  #pieces: string[] = [];
  #number = 0;
  /** The delta that is not written yet, because more of it may come. */
  #name = '';
  #head = '';
  #literals: string[] = [];

  take(): string {
    const bytes = this.takeBytes();
    return bytes ? bytes.toString('utf8') : '';
  }

  takeBytes(): Buffer | undefined {
    this.#writeDelta();
    if (this.#pieces.length === 0) return undefined;
    const bytes = joinedBytes(this.#pieces);
    this.#pieces = [];
    return bytes;
  }

  begin(response: () => string): void {
    const members = `"response":${response()}`;
    this.event('created', members);
    this.event('in_progress', members);
  }

  event(name: string, members: string): void {
    this.#writeDelta();
    this.#write(name, members);
  }

  delta(name: string, head: string, literal: string): void {
    if (head !== this.#head || name !== this.#name) {
      this.#writeDelta();
      this.#name = name;
      this.#head = head;
    }
    this.#literals.push(literal);
  }

  /** Open Responses demands the line after the last event. OpenAI sends none, and its SDK stops at it. */
  end(name: string, response: string): void {
    this.event(name, `"response":${response}`);
    this.#pieces.push('data: [DONE]\n\n');
  }

  #writeDelta(): void {
    const literals = this.#literals;
    if (literals.length === 0) return;
    const text = literals.length === 1 ? literals[0]! : literals.join('');
    this.#literals = [];
    this.#write(this.#name, `${this.#head},"delta":"${text}"${this.#name === TEXT_DELTA ? ',"logprobs":[]' : ''}`);
  }

  #write(name: string, members: string): void {
    const type = `response.${name}`;
    this.#pieces.push(`event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number++},${members}}\n\n`);
  }
}

/** A plain reply is the response of the last event. */
export class WholeResponseSink implements ResponseSink {
  response = '';

  begin(): void {}
  event(): void {}
  delta(): void {}

  end(_: string, response: string): void {
    this.response = response;
  }
}
