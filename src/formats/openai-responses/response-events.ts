import type { SentEvents } from '../format.ts';
import { joinedBytes } from '../json/literal.ts';

/** The deltas of an answer's text, which alone have log probabilities. */
export const TEXT_DELTA = 'output_text.delta';

/** The place of an item in its response. */
export interface ItemPlace {
  readonly id: string;
  readonly index: number;
  /** The members by which its events name it. */
  readonly head: string;
}

/**
 * Writes the events of a response as SSE. Names come without `response.`, and JSON and literals with one character per byte
 * (json/literal.ts). Clients demand that each has a number and that its name is in the data too
 * (docs/protocols/openai-responses.md#stream).
 *
 * Deltas of a part that were read together leave as one event. A gateway that falls behind its upstreams reads more at once, and so
 * writes fewer events.
 */
export class ResponseEvents {
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

  /** The two events with which a response begins. */
  begin(response: string): void {
    const members = `"response":${response}`;
    this.event('created', members);
    this.event('in_progress', members);
  }

  /** @param members all fields but the type and the number */
  event(name: string, members: string): void {
    this.#writeDelta();
    this.#write(name, members);
  }

  /** @param head the members before the delta, made once for all deltas of a part */
  delta(name: string, head: string, literal: string): void {
    if (head !== this.#head || name !== this.#name) {
      this.#writeDelta();
      this.#name = name;
      this.#head = head;
    }
    this.#literals.push(literal);
  }

  /** The last event. Open Responses demands the line after it. OpenAI sends none, and its SDK stops at it. */
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

const NUMBER = '"sequence_number":';

/**
 * OpenAI's own event for a silent stream (docs/protocols/openai-responses.md#stream), with the number of the last event. Undefined
 * for bytes without an event, such as comments.
 */
export function keepAlive({ last }: SentEvents): string | undefined {
  const at = last.lastIndexOf(NUMBER);
  if (at < 0) return undefined;
  const from = at + NUMBER.length;
  const number = Number.parseInt(last.toString('latin1', from, from + 20), 10) || 0;
  return `event: keepalive\ndata: {"type":"keepalive","sequence_number":${number}}\n\n`;
}
