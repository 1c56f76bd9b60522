import { createSignals } from '../events.ts';
import type { Signals } from '../events.ts';
import { ReplyFault, type ClientContext, type PassThrough, type ReplyContext } from '../format.ts';
import { observe } from '../signals.ts';
import { EventTooLarge, readSse, SseCutter } from '../sse.ts';
import { decodeReply, MessageReader } from './decode-reply.ts';
import { feed } from './decode-stream.ts';
import { interrupted, unreadable } from './errors.ts';
import { parseJson } from './json.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  const reply: ReplyContext = { model: client.model, newCallId: () => '' };
  return stream ? new StreamPass(reply) : new PlainPass(reply);
}

/** A record ends with a blank line; the last of a stream may lack it. */
const RECORD_END = /\r?\n\r?\n/g;
const DELTA = 'event: content_block_delta';

/**
 * Anthropic names every event on a line of its own, so a record's kind is known without reading its data. Deltas are most of
 * a stream: once content was seen they only count as progress. The others are decoded, which keeps one reading of them.
 */
class StreamPass implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #cutter = new SseCutter();
  readonly #reader: MessageReader;

  constructor(reply: ReplyContext) {
    this.#reader = new MessageReader(reply);
  }

  push(bytes: Buffer): Buffer | undefined {
    if (this.signals.failure) return undefined;
    try {
      const whole = this.#cutter.push(bytes);
      return whole && this.#scan(whole);
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      this.signals.failure = { status: 502, message: error.message, kind: 'reply_too_large' };
      return undefined;
    }
  }

  end(): Buffer | undefined {
    if (this.signals.failure) return undefined;
    const rest = this.#cutter.rest();
    // Whole but for its blank line: the client's parser needs that line.
    const whole = readSse(rest).length > 0 && readSse(rest).every(({ data }) => parseJson(data) !== undefined);
    const last = whole ? this.#scan(Buffer.concat([rest, Buffer.from('\n\n')])) : undefined;
    if (!this.signals.ended && !this.signals.failure) this.signals.failure = interrupted();
    return last;
  }

  /** Latin-1 keeps one character per byte, so positions in the text are positions in the bytes. */
  #scan(bytes: Buffer): Buffer | undefined {
    const text = bytes.toString('latin1');
    const kept: Buffer[] = [];
    let from = 0;
    for (const match of text.matchAll(RECORD_END)) {
      const to = match.index + match[0].length;
      if (this.#keep(bytes.subarray(from, to), text.startsWith(DELTA, from))) kept.push(bytes.subarray(from, to));
      else if (this.signals.failure) break;
      from = to;
    }
    const size = kept.reduce((sum, piece) => sum + piece.length, 0);
    if (size === 0) return undefined;
    return size === bytes.length ? bytes : Buffer.concat(kept);
  }

  /** False for what the client must not see: an error, which the caller writes, and Vertex' own events (C3). */
  #keep(record: Buffer, delta: boolean): boolean {
    if (delta && this.signals.content) {
      this.signals.progress += 1;
      return true;
    }
    const [event] = readSse(record);
    if (!event) return true;
    if (event.event === 'vertex_event') return false;
    feed(this.#reader, event, false);
    observe(this.signals, this.#reader.drain());
    return this.signals.failure === undefined;
  }
}

/** A plain body is one JSON document: it is held until it is whole, so that no half of one leaves. */
class PlainPass implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #reply: ReplyContext;
  readonly #pieces: Buffer[] = [];

  constructor(reply: ReplyContext) {
    this.#reply = reply;
  }

  push(bytes: Buffer): undefined {
    this.#pieces.push(bytes);
    this.signals.progress += 1;
  }

  end(): Buffer | undefined {
    const body = Buffer.concat(this.#pieces);
    try {
      observe(this.signals, decodeReply(parseJson(body.toString('utf8')), this.#reply));
    } catch (error) {
      if (!(error instanceof ReplyFault)) throw error;
      this.signals.failure = unreadable('a body that is not a message');
    }
    return this.signals.failure ? undefined : body;
  }
}
