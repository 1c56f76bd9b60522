import { createSignals, type Signals } from '../events.ts';
import { inBytes, type ClientContext, type PassThrough, type ReplyContext } from '../format.ts';
import { isObject, listOf, parseJson, stringOf } from '../json/object.ts';
import { readSse, SseCutter } from '../sse/event-stream.ts';
import { translatingReader } from '../streams/readers.ts';
import { hasContent } from './chunk-fields.ts';
import { decodeReply, textOf } from './decode-reply.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeStream } from './encode-stream.ts';
import { beginsWithThoughts, InlineThoughts } from './inline-thoughts.ts';
import { StreamPassThrough } from './pass-through-stream.ts';

/** Bytes that are read for the start of the answer. A stream with a longer start is decoded, which is always correct. */
const MAX_START = 64 * 1024;

/**
 * Reads a stream of a model that may begin its answer with the chain of thought. The start of the answer decides: with
 * a chain of thought the stream is decoded and written anew, without one its bytes pass unchanged.
 */
export class ThinkingStream implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #client: ClientContext;
  readonly #reply: ReplyContext;
  readonly #start = new AnswerStart();
  #held: Buffer[] = [];
  #size = 0;
  #reader: PassThrough | undefined;

  constructor(client: ClientContext, reply: ReplyContext) {
    this.#client = client;
    this.#reply = reply;
  }

  push(bytes: Buffer): Buffer | undefined {
    if (this.#reader) return this.#reader.push(bytes);
    this.#held.push(bytes);
    this.#size += bytes.length;
    const thinks = this.#start.read(bytes) ?? (this.#size > MAX_START ? true : undefined);
    if (thinks !== undefined) return this.#begin(thinks).push(this.#takeHeld());
    this.signals.progress = this.#start.chunks;
    return undefined;
  }

  end(): Buffer | undefined {
    if (this.#reader) return this.#reader.end();
    // A server that does not stream sends the whole reply.
    const reader = this.#begin(JSON_START.test(this.#held[0]?.toString('latin1', 0, 64) ?? ''));
    const pieces = [reader.push(this.#takeHeld()), reader.end()].filter((piece) => piece !== undefined);
    return pieces.length > 0 ? Buffer.concat(pieces) : undefined;
  }

  #begin(thinks: boolean): PassThrough {
    this.signals.progress = 0;
    this.#reader = thinks
      ? translatingReader(this.#translation(), true, '', this.signals)
      : new StreamPassThrough(this.#client, this.signals);
    return this.#reader;
  }

  #translation(): Parameters<typeof translatingReader>[0] {
    const [upstream, client] = [
      { decodeReply, decodeStream },
      { encodeReply: inBytes(encodeReply), encodeStream },
    ];
    return { upstream, client, reply: this.#reply, context: this.#client };
  }

  #takeHeld(): Buffer {
    const held = Buffer.concat(this.#held);
    this.#held = [];
    return held;
  }
}

const JSON_START = /^\s*\{/;

/** Finds out from the first chunks of a stream whether its answer begins with a chain of thought. */
class AnswerStart {
  readonly #cutter = new SseCutter();
  readonly #thoughts = new InlineThoughts();
  /** Chunks so far. */
  chunks = 0;

  /** Undefined while the answer has not begun. */
  read(bytes: Buffer): boolean | undefined {
    const whole = this.#cutter.push(bytes);
    if (this.#cutter.failure) return false;
    for (const { data } of whole ? readSse(whole) : []) {
      if (data === '') continue;
      this.chunks += 1;
      const thinks = this.#readChunk(parseJson(data));
      if (thinks !== undefined) return thinks;
    }
    return undefined;
  }

  #readChunk(chunk: unknown): boolean | undefined {
    if (!isObject(chunk) || chunk.error) return false;
    for (const choice of listOf(chunk.choices) ?? []) {
      if (!isObject(choice)) continue;
      const { content, ...others } = isObject(choice.delta) ? choice.delta : {};
      this.#thoughts.push(textOf(content));
      if (this.#thoughts.thinks !== undefined) return this.#thoughts.thinks;
      if (choice.finish_reason || hasContent(others)) return false;
    }
    return undefined;
  }
}

/** True for a plain reply with an answer that begins with a chain of thought. */
export function thinksInline(body: unknown): boolean {
  const choices = isObject(body) ? (listOf(body.choices) ?? []) : [];
  return choices.some(
    (choice) =>
      isObject(choice) && isObject(choice.message) && beginsWithThoughts(stringOf(choice.message.content) ?? ''),
  );
}
