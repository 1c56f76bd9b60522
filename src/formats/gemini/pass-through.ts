import { Buffer } from 'node:buffer';
import { createSignals, type Signals } from '../events.ts';
import { type BodyEdit, type BodyView, type ClientContext, type PassThrough, ReplyFault } from '../format.ts';
import { observe } from '../signals.ts';
import { decodeReply, INTERRUPTED, ReplyReader } from './decode-reply.ts';
import { chunksOf, Framing, unreadable } from './framing.ts';

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
      return body;
    } catch (error) {
      this.signals.failure = unreadable(error);
      return undefined;
    }
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new ReplyFault('it is not one JSON document');
  }
}

/** Cuts at whole events and reads what it lets through. */
class StreamPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #framing = new Framing();
  readonly #reader: ReplyReader;

  constructor(client: ClientContext) {
    this.#reader = new ReplyReader(watching(client));
  }

  push(bytes: Buffer): Buffer | undefined {
    try {
      const { whole, texts } = this.#framing.push(bytes);
      this.#watch(texts);
      return whole;
    } catch (error) {
      // Held back for too long: nothing more can be let through whole.
      this.signals.failure ??= unreadable(error);
      return undefined;
    }
  }

  end(): Buffer | undefined {
    const { whole, texts, cut } = this.#framing.end();
    this.#watch(texts);
    if (this.signals.failure) return whole;
    const complete = !cut && this.#reader.finished;
    observe(this.signals, complete ? this.#reader.end() : [{ type: 'error', failure: INTERRUPTED }]);
    return whole;
  }

  /** An event that cannot be read still leaves as it came, since the bytes are the client's; it is noted as the failure. */
  #watch(texts: readonly string[]): void {
    try {
      for (const text of texts) {
        for (const chunk of chunksOf(text)) {
          // What follows a failure is no part of the reply.
          if (this.signals.failure) return;
          observe(this.signals, this.#reader.read(chunk));
        }
      }
    } catch (error) {
      this.signals.failure ??= unreadable(error);
    }
  }
}
