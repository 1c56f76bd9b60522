import type { JsonObject } from '../conversation.ts';
import { WrittenText } from '../json/written-text.ts';

/** Receives the events of a response as the API streams them. Names come without `response.`. */
export interface ResponseSink {
  event(name: string, fields: JsonObject): void;
  /** A delta of text: `head` holds the other fields as JSON, made once for all deltas of a part. */
  delta(name: string, head: string, text: string, tail: string): void;
  done(): void;
}

/**
 * Writes the events as SSE. Clients demand that each has a number and that its name is in the data too
 * (docs/protocols/openai-responses.md#stream).
 */
export class ResponseStreamSink implements ResponseSink {
  readonly #text = new WrittenText();
  #number = 0;

  take(): string {
    return this.#text.take();
  }

  event(name: string, fields: JsonObject): void {
    const type = `response.${name}`;
    const data = JSON.stringify({ type, sequence_number: this.#number++, ...fields });
    this.#text.add(`event: ${type}\ndata: ${data}\n\n`);
  }

  /** The hot path: only what changes is turned into JSON. */
  delta(name: string, head: string, text: string, tail: string): void {
    const type = `response.${name}`;
    this.#text.add(
      `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number++},${head},"delta":${JSON.stringify(text)}${tail}}\n\n`,
    );
  }

  /** Open Responses demands this line. OpenAI sends none, and its SDK stops at it. */
  done(): void {
    this.#text.add('data: [DONE]\n\n');
  }
}

/** A plain reply is the response of the last event. */
export class WholeResponseSink implements ResponseSink {
  response: JsonObject = {};

  event(_: string, { response }: JsonObject): void {
    if (response !== undefined) this.response = response as JsonObject;
  }

  delta(): void {}
  done(): void {}
}
