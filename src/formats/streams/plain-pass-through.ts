import { createSignals, type GenerationEvent, type Signals } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { PassThrough, ReplyContext } from '../format.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import { keepingDigits } from '../json/rounding.ts';
import { Pieces } from './pieces.ts';
import { observe } from './signals.ts';
import { textOf, withoutMark } from '../sse/stream-start.ts';

type DecodeReply = ((body: unknown, reply: ReplyContext) => readonly GenerationEvent[]) & {
  /** Reads the signals of a reply that is sent as received. False for any other reply, and then nothing changes. */
  readonly ordinary?: (body: unknown, signals: Signals) => boolean;
  /** The text of a reply without a large part that `ordinary` does not read: valid JSON exactly if the whole is. */
  readonly shorten?: (bytes: Buffer) => string | undefined;
};

/** A whole reply: its bytes, its parsed JSON, and its events. */
export interface WholeReply {
  readonly bytes: Buffer;
  readonly body: unknown;
  readonly events: readonly GenerationEvent[];
}

const unsentId = (): string => 'call';

const unchanged = ({ bytes }: WholeReply): Buffer => bytes;

/**
 * A plain body in the client's own format is one event, complete only at its end. It is held (the caller bounds it),
 * read for its signals, and sent as received or as `write` returns it. A cut or unreadable body is never sent.
 */
export class PlainPassThrough implements PassThrough {
  readonly signals: Signals;
  readonly #decodeReply: DecodeReply;
  readonly #reply: ReplyContext;
  readonly #write: (reply: WholeReply, notes: LossNotes) => Buffer;
  readonly #pieces = new Pieces();

  constructor(
    decodeReply: DecodeReply,
    model: string,
    write: (reply: WholeReply, notes: LossNotes) => Buffer = unchanged,
    signals: Signals = createSignals(),
  ) {
    this.signals = signals;
    this.#decodeReply = decodeReply;
    this.#write = write;
    // These call ids are never sent: the events serve the signals and `write`.
    this.#reply = { model, newCallId: unsentId };
  }

  push(bytes: Buffer): undefined {
    this.#pieces.add(bytes);
    this.signals.progress += 1;
  }

  end(): Buffer | undefined {
    const bytes = this.#pieces.bytes();
    const { ordinary, shorten } = this.#decodeReply;
    try {
      const short = ordinary && shorten?.(withoutMark(bytes));
      if (short !== undefined && ordinary?.(JSON.parse(short), this.signals)) return bytes;
      const text = textOf(bytes);
      const parsed: unknown = JSON.parse(text);
      if (short === undefined && ordinary?.(parsed, this.signals)) return bytes;
      const body = keepingDigits(text, parsed);
      const events = this.#decodeReply(body, this.#reply);
      observe(this.signals, events);
      return this.signals.failure ? undefined : this.#write({ bytes, body, events }, this.signals);
    } catch (error) {
      if (!(error instanceof SyntaxError) && !(error instanceof ReplyFault)) throw error;
      const reason = error instanceof ReplyFault ? error.message.replace(/\.$/, '') : 'it is not complete JSON';
      this.signals.failure = {
        status: 502,
        kind: 'unreadable_reply',
        message: `The upstream sent a reply that cannot be read: ${reason}.`,
      };
    }
    return undefined;
  }
}
