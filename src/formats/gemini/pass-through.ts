import { Buffer } from 'node:buffer';
import { createSignals, type Signals } from '../events.ts';
import type { BodyEdit, BodyView } from '../body-view.ts';
import type { ClientContext, PassThrough } from '../format.ts';
import { PlainPassThrough } from '../streams/plain-pass-through.ts';
import { observe } from '../streams/signals.ts';
import { decodeReply, INTERRUPTED, GeminiReplyReader } from './decode-reply.ts';
import { ArrayFrame, SSE_FRAME, type StreamFrame } from './json-array.ts';
import { bytesBefore, chunksOf, type Framed, Framing, unreadable } from './framing.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream ? new GeminiPassThrough(client, undefined) : new PlainPassThrough(decodeReply, client.model);
}

/** The same for a client that gets a JSON array: every element is the upstream's, byte for byte. */
export function arrayPassThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream ? new GeminiPassThrough(client, new ArrayFrame()) : passThrough(client, stream);
}

/** The URL holds the model and streaming. A body that names them does so for the gateway: Google refuses `stream`. */
export function passThroughEdits(body: BodyView): readonly BodyEdit[] {
  return ['model', 'stream']
    .filter((key) => body.has(key))
    .map((key) => ({ path: [key], value: undefined, source: 'gateway' }));
}

/**
 * Passes complete events on and reads each of them. The first failed event (an error of the upstream, or an unreadable
 * event) ends the reply: neither it nor anything after it is sent, since the caller writes the error in its own words.
 */
class GeminiPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #framing = new Framing();
  readonly #reader: GeminiReplyReader;
  /** Set for a client that gets the events in another frame. */
  readonly #frame: StreamFrame | undefined;

  constructor({ model }: ClientContext, frame: StreamFrame | undefined) {
    this.#frame = frame;
    // The reader only observes the reply: its call ids are never sent.
    this.#reader = new GeminiReplyReader({ model, newCallId: () => 'call' });
  }

  push(bytes: Buffer): Buffer | undefined {
    if (this.signals.failure) return undefined;
    try {
      return this.#pass(this.#framing.push(bytes));
    } catch (error) {
      // The held event is too large, so no complete event can follow.
      this.signals.failure = unreadable(error);
      return undefined;
    }
  }

  end(): Buffer | undefined {
    if (this.signals.failure) return undefined;
    const last = this.#framing.end();
    const whole = this.#pass(last);
    if (this.signals.failure) return whole;
    const complete = !last.cut && this.#reader.finished;
    try {
      observe(this.signals, complete ? this.#reader.end() : [{ type: 'error', failure: INTERRUPTED }]);
    } catch (error) {
      this.signals.failure = unreadable(error);
    }
    if (!this.#frame || this.signals.failure) return whole;
    return Buffer.concat([whole ?? Buffer.alloc(0), Buffer.from(this.#frame.end())]);
  }

  #pass(framed: Framed): Buffer | undefined {
    const { whole, texts } = framed;
    const good = this.#watch(texts);
    const frame = this.#frame ?? (this.#framing.isArray || framed.isOdd ? SSE_FRAME : undefined);
    if (frame) return this.#framed(texts.slice(0, good), frame);
    if (whole === undefined || good === texts.length) return whole;
    const left = bytesBefore(whole, good);
    return left.length > 0 ? left : undefined;
  }

  /** An event may be an array of several records. Line ends are outside of JSON's strings. */
  #framed(texts: readonly string[], frame: StreamFrame): Buffer | undefined {
    const records = texts.map((text) =>
      frame.record(
        text
          .trim()
          .replace(/^\[([^]*)\]$/, '$1')
          .replaceAll(/[\r\n]+/g, ' '),
      ),
    );
    return records.length > 0 ? Buffer.from(records.join('')) : undefined;
  }

  /** Returns the number of events that may be sent. */
  #watch(texts: readonly string[]): number {
    for (const [index, text] of texts.entries()) {
      try {
        for (const chunk of chunksOf(text)) {
          this.signals.progress += 1;
          observe(this.signals, this.#reader.read(chunk));
        }
      } catch (error) {
        this.signals.failure = unreadable(error);
      }
      if (this.signals.failure) return index;
    }
    return texts.length;
  }
}
