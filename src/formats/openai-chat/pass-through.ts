import { createSignals, type Signals } from '../events.ts';
import { ReplyFault, type ClientContext, type PassThrough } from '../format.ts';
import { observe } from '../signals.ts';
import { decodeReply } from './decode-reply.ts';
import { unreadable } from './errors.ts';
import { StreamPassThrough } from './pass-through-stream.ts';

export function passThrough(client: ClientContext, stream: boolean): PassThrough {
  return stream ? new StreamPassThrough(client) : new PlainPassThrough(client);
}

/**
 * A plain body is one event: it is whole when it has ended. So it is held (the caller bounds it), checked, and leaves as the
 * bytes that came; a body that was cut never does.
 */
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
      const parsed: unknown = JSON.parse(body.toString('utf8'));
      observe(this.signals, decodeReply(parsed, { model: this.#client.model, newCallId: () => '' }));
    } catch (error) {
      if (!(error instanceof SyntaxError) && !(error instanceof ReplyFault)) throw error;
      this.signals.failure = unreadable(
        error instanceof ReplyFault ? error.message : 'The upstream sent a reply that is not complete JSON.',
      );
    }
    return this.signals.failure ? undefined : body;
  }
}
