import { bytesOf, fromBytes, joinedBytes, toBytes } from '../json/literal.ts';
import { WrittenText } from '../json/written-text.ts';

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

/** What an event of text has after its delta. */
const AFTER_TEXT = '","logprobs":[]}\n\n';

/**
 * Writes the events as SSE. Clients demand that each has a number and that its name is in the data too
 * (docs/protocols/openai-responses.md#stream).
 */
export class ResponseStreamSink implements ResponseSink {
  readonly #text = new WrittenText();
  /** What was written before `#text`, with one character per byte. */
  #bytes: string[] = [];
  #number = 0;

  take(): string {
    if (this.#bytes.length === 0) return this.#text.take();
    this.#flush();
    const text = fromBytes(this.#bytes.join(''));
    this.#bytes = [];
    return text;
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

  begin(response: () => string): void {
    const members = `"response":${response()}`;
    this.event('created', members);
    this.event('in_progress', members);
  }

  event(name: string, members: string): void {
    this.#flush();
    const type = `response.${name}`;
    this.#bytes.push(`event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#number++},${members}}\n\n`);
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
    this.#flush();
    const rest = `,${head},"delta":"`;
    const pieces: string[] = [];
    for (const literal of literals) if (literal !== '') pieces.push(between(this.#number++), rest, literal);
    if (pieces.length === 0) return;
    // The first delta follows none.
    pieces[0] = pieces[0]!.slice(AFTER_TEXT.length);
    pieces.push(AFTER_TEXT);
    this.#bytes.push(pieces.join(''));
  }

  /** Open Responses demands the line after the last event. OpenAI sends none, and its SDK stops at it. */
  end(name: string, response: string): void {
    this.event(name, `"response":${response}`);
    this.#text.add('data: [DONE]\n\n');
  }
}

export const TEXT_DELTA = 'output_text.delta';

/** The most numbers whose text is kept: 170 bytes each. */
const MOST_KEPT = 1024;
const BETWEEN: string[] = Array.from({ length: MOST_KEPT }, () => '');

/**
 * What is between two texts up to the item, by the number of the second: the same in all streams. Joining such pieces takes a third of
 * the time of concatenating them with a number each (measured).
 */
function between(number: number): string {
  const kept = BETWEEN[number];
  if (kept) return kept;
  const head = `${AFTER_TEXT}event: response.${TEXT_DELTA}\ndata: {"type":"response.${TEXT_DELTA}","sequence_number":`;
  const text = [head, String(number)].join('');
  if (number < MOST_KEPT) BETWEEN[number] = text;
  return text;
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
