import { createSignals, type GenerationEvent, type Signals } from './events.ts';
import { ReplyFault, type PassThrough, type ReplyContext } from './format.ts';
import { observe } from './signals.ts';

type DecodeReply = (body: unknown, reply: ReplyContext) => readonly GenerationEvent[];

/**
 * A plain body in the client's own format is one event: it is whole when it has ended. So it is held (the caller bounds it),
 * read for its signals, and leaves as the bytes that came; a body that was cut, or is something else, never does.
 */
export class PlainPassThrough implements PassThrough {
  readonly signals: Signals = createSignals();
  readonly #decodeReply: DecodeReply;
  readonly #reply: ReplyContext;
  readonly #pieces: Buffer[] = [];

  constructor(decodeReply: DecodeReply, model: string) {
    this.#decodeReply = decodeReply;
    // Nobody sees the ids of the calls this reads.
    this.#reply = { model, newCallId: () => 'call' };
  }

  push(bytes: Buffer): undefined {
    this.#pieces.push(bytes);
    this.signals.progress += 1;
  }

  end(): Buffer | undefined {
    const body = Buffer.concat(this.#pieces);
    try {
      const parsed: unknown = JSON.parse(body.toString('utf8'));
      observe(this.signals, this.#decodeReply(parsed, this.#reply));
    } catch (error) {
      if (!(error instanceof SyntaxError) && !(error instanceof ReplyFault)) throw error;
      const reason = error instanceof ReplyFault ? error.message.replace(/\.$/, '') : 'it is not complete JSON';
      this.signals.failure = {
        status: 502,
        kind: 'unreadable_reply',
        message: `The upstream sent a reply that cannot be read: ${reason}.`,
      };
    }
    return this.signals.failure ? undefined : body;
  }
}
