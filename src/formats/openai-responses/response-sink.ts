import { bytesOf, toBytes } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';
import { AFTER_TEXT, TEXT_DELTA, TextFrame, TextRun } from './text-run.ts';

/**
 * Receives the events of a response as the API streams them. Names come without `response.`, and JSON with one character per byte
 * (json/literal.ts).
 */
export interface ResponseSink {
  /** The two events with which a response begins. `response` is called by a sink that has them. */
  begin(response: () => string): void;
  /** @param members all fields but the type and the number */
  event(name: string, members: string): void;
  /** A delta: `head` has the members before it, made once for all deltas of a part. */
  delta(name: string, head: string, text: string): void;
  /** A delta of an answer's text for each literal that is not empty. */
  texts(head: string, literals: readonly string[]): void;
  /** The last event. */
  end(name: string, response: string): void;
}

/**
 * Writes the events as SSE. Clients demand that each has a number and that its name is in the data too
 * (docs/protocols/openai-responses.md#stream).
 */
export class ResponseStreamSink implements ResponseSink {
  readonly #text = new WrittenText();
  /** What was written before `#text`: texts with one character per byte, and runs. */
  #pieces: (string | TextRun)[] = [];
  #number = 0;
  /** The frame of the part whose text came last. */
  #frame: TextFrame | undefined;

  take(): string {
    return this.#pieces.length === 0 ? this.#text.take() : this.#takePieces().toString('utf8');
  }

  takeBytes(): Buffer | undefined {
    return this.#pieces.length === 0 ? bytesOf(this.#text.take()) : this.#takePieces();
  }

  /** Writes the pieces where they leave: a text of all of them would be copied once more. */
  #takePieces(): Buffer {
    this.#flush();
    let length = 0;
    for (const piece of this.#pieces) length += piece.length;
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    for (const piece of this.#pieces)
      at = typeof piece === 'string' ? at + bytes.write(piece, at, 'latin1') : piece.write(bytes, at);
    this.#pieces = [];
    return bytes;
  }

  #flush(): void {
    const text = this.#text.take();
    if (text !== '') this.#pieces.push(toBytes(text));
  }

  begin(response: () => string): void {
    const members = `"response":${response()}`;
    this.event('created', members);
    this.event('in_progress', members);
  }

  event(name: string, members: string): void {
    this.#flush();
    const type = `response.${name}`;
    this.#pieces.push(`event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number++},${members}}\n\n`);
  }

  /** The hot path: only what changes is turned into JSON. */
  delta(name: string, head: string, text: string): void {
    const type = `response.${name}`;
    const after = name === TEXT_DELTA ? AFTER_TEXT.slice(1) : '}\n\n';
    this.#text.add(
      `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number++},${head},"delta":${JSON.stringify(text)}${after}`,
    );
  }

  /** The hottest path: literals pass without being decoded and encoded. */
  texts(head: string, literals: readonly string[]): void {
    const given = literals.includes('') ? literals.filter((literal) => literal !== '') : literals;
    if (given.length === 0) return;
    this.#flush();
    if (this.#frame?.head !== head) this.#frame = new TextFrame(head, this.#number);
    this.#pieces.push(new TextRun(this.#frame, this.#number, given));
    this.#number += given.length;
  }

  /** Open Responses demands the line after the last event. OpenAI sends none, and its SDK stops at it. */
  end(name: string, response: string): void {
    this.event(name, `"response":${response}`);
    this.#text.add('data: [DONE]\n\n');
  }
}

/** A plain reply is the response of the last event. */
export class WholeResponseSink implements ResponseSink {
  response = '';

  begin(): void {}
  event(): void {}
  delta(): void {}
  texts(): void {}

  end(_: string, response: string): void {
    this.response = response;
  }
}
