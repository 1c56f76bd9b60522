import { Buffer } from 'node:buffer';
import { createSignals, type Signals } from '../events.ts';
import type { BodyEdit, BodyView, ClientContext, PassThrough } from '../format.ts';
import { PlainPassThrough } from '../streams/plain-pass-through.ts';
import { observe } from '../streams/signals.ts';
import { decodeReply, INTERRUPTED, GeminiReplyReader } from './decode-reply.ts';
import { chunksOf, type Framed, Framing, unreadable } from './framing.ts';

/** Nobody sees the ids of the calls this reads. */
const watching = (client: ClientContext) => ({ model: client.model, newCallId: () => 'call' });

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream ? new GeminiPassThrough(client) : new PlainPassThrough(decodeReply, client.model);
}

/** Model and streaming are said by the URL: where a body names them, it was for the gateway, and this wire refuses `stream`. */
export function passThroughEdits(body: BodyView): readonly BodyEdit[] {
  return ['model', 'stream']
    .filter((key) => body.has(key))
    .map((key) => ({ path: [key], value: undefined, source: 'gateway' }));
}

/**
 * Cuts at whole events and reads what it lets through. The first event that fails (an error of the upstream, one that cannot be
 * read) ends the reply: neither it nor anything behind it leaves, since the caller writes the error in its own words.
 */
class GeminiPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #framing = new Framing();
  readonly #reader: GeminiReplyReader;

  constructor(client: ClientContext) {
    this.#reader = new GeminiReplyReader(watching(client));
  }

  push(bytes: Buffer): Buffer | undefined {
    if (this.signals.failure) return undefined;
    try {
      return this.#pass(this.#framing.push(bytes));
    } catch (error) {
      // Held back for too long: nothing more can be let through whole.
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
    return whole;
  }

  #pass({ whole, texts }: Framed): Buffer | undefined {
    const good = this.#watch(texts);
    if (whole === undefined || good === texts.length) return whole;
    const left = this.#framing.before(whole, good);
    return left.length > 0 ? left : undefined;
  }

  /** How many of the events may leave. */
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
