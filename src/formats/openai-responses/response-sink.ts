import type { JsonObject } from '../conversation.ts';
import { bytesOf, joinedBytes, toBytes } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';

/** Receives the events of a response as the API streams them. Names come without `response.`. */
export interface ResponseSink {
  /** The two events with which a response begins. */
  begin(response: JsonObject): void;
  event(name: string, fields: JsonObject): void;
  /** A delta of text: `head` holds the other fields as JSON, made once for all deltas of a part. */
  delta(name: string, head: string, text: string, tail: string): void;
  /** A delta for each text, which is a JSON literal with one character per byte. */
  deltas(name: string, head: string, literals: readonly string[], tail: string): void;
  done(): void;
}

/**
 * Writes the events as SSE. Clients demand that each has a number and that its name is in the data too
 * (docs/protocols/openai-responses.md#stream).
 */
export class ResponseStreamSink implements ResponseSink {
  readonly #text = new WrittenText();
  /** What was written before `#text`, with one character per byte. */
  #bytes: string[] = [];
  #number = 0;
  #frame: DeltaFrame | undefined;

  take(): string {
    return this.#text.take();
  }

  takeBytes(): Buffer | undefined {
    if (this.#bytes.length === 0) return bytesOf(this.#text.take());
    this.#flush();
    const bytes = joinedBytes(this.#bytes);
    this.#bytes = [];
    return bytes;
  }

  #flush(): void {
    const text = this.#text.take();
    if (text !== '') this.#bytes.push(toBytes(text));
  }

  begin(response: JsonObject): void {
    const json = JSON.stringify(response);
    for (const type of ['response.created', 'response.in_progress'])
      this.#text.add(
        `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number++},"response":${json}}\n\n`,
      );
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

  /** The hottest path: literals pass without being decoded and encoded. */
  deltas(name: string, head: string, literals: readonly string[], tail: string): void {
    this.#flush();
    if (this.#frame?.head !== head || this.#frame.name !== name) this.#frame = deltaFrame(name, head, tail);
    const { before, between, after } = this.#frame;
    let text = '';
    for (const literal of literals)
      if (literal !== '') text += before + String(this.#number++) + between + literal + after;
    this.#bytes.push(text);
  }

  /** Open Responses demands this line. OpenAI sends none, and its SDK stops at it. */
  done(): void {
    this.#text.add('data: [DONE]\n\n');
  }
}

/** What is around the number and the literal of a delta, the same for all deltas of a part. With one character per byte. */
interface DeltaFrame {
  readonly name: string;
  readonly head: string;
  readonly before: string;
  readonly between: string;
  readonly after: string;
}

function deltaFrame(name: string, head: string, tail: string): DeltaFrame {
  const type = `response.${name}`;
  const before = `event: ${type}\ndata: {"type":"${type}","sequence_number":`;
  return { name, head, before, between: toBytes(`,${head},"delta":"`), after: `"${tail}}\n\n` };
}

/** A plain reply is the response of the last event. */
export class WholeResponseSink implements ResponseSink {
  response: JsonObject = {};

  begin(response: JsonObject): void {
    this.response = response;
  }

  event(_: string, { response }: JsonObject): void {
    if (response !== undefined) this.response = response as JsonObject;
  }

  delta(): void {}
  deltas(): void {}
  done(): void {}
}
