import { Buffer } from 'node:buffer';
import { createSignals, type Signals } from '../events.ts';
import { type BodyEdit, type BodyView, type ClientContext, type PassThrough, ReplyFault } from '../format.ts';
import { observe } from '../signals.ts';
import { decodeReply, INTERRUPTED, ReplyReader } from './decode-reply.ts';
import { chunksOf, type Framed, Framing, unreadable } from './framing.ts';

/** Nobody sees the ids of the calls this reads. */
const watching = (client: ClientContext) => ({ model: client.model, newCallId: () => 'call' });

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream ? new StreamPassThrough(client) : new PlainPassThrough(client);
}

/** Model and streaming are said by the URL: where a body names them, it was for the gateway, and this wire refuses `stream`. */
export function passThroughEdits(body: BodyView): readonly BodyEdit[] {
  return ['model', 'stream']
    .filter((key) => body.has(key))
    .map((key) => ({ path: [key], value: undefined, source: 'gateway' }));
}

/** A plain body is one event: it leaves when it is whole. */
class PlainPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #client: ClientContext;
  readonly #pieces: Buffer[] = [];

  constructor(client: ClientContext) {
    this.#client = client;
  }

  push(bytes: Buffer): undefined {
    this.#pieces.push(bytes);
    this.signals.progress += 1;
  }

  end(): Buffer | undefined {
    const body = Buffer.concat(this.#pieces);
    try {
      observe(this.signals, decodeReply(parse(body), watching(this.#client)));
    } catch (error) {
      this.signals.failure = unreadable(error);
    }
    return this.signals.failure ? undefined : body;
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ReplyFault('it is not one JSON document');
  }
}

/**
 * Cuts at whole events and reads what it lets through. The first event that fails (an error of the upstream, one that cannot be
 * read) ends the reply: neither it nor anything behind it leaves, since the caller writes the error in its own words.
 */
class StreamPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #framing = new Framing();
  readonly #reader: ReplyReader;

  constructor(client: ClientContext) {
    this.#reader = new ReplyReader(watching(client));
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
    observe(this.signals, complete ? this.#reader.end() : [{ type: 'error', failure: INTERRUPTED }]);
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
        for (const chunk of chunksOf(text)) observe(this.signals, this.#reader.read(chunk));
      } catch (error) {
        this.signals.failure = unreadable(error);
      }
      if (this.signals.failure) return index;
    }
    return texts.length;
  }
}
