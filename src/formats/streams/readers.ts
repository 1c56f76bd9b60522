import { createSignals, type GenerationEvent, type Signals } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { Format, PassThrough, StreamDecoder, StreamEncoder, ClientContext, ReplyContext } from '../format.ts';
import type { LossNotes } from '../losses/reply-losses.ts';
import { bytesOf } from '../json/literal.ts';
import { parseReplyText } from '../json/rounding.ts';
import { Pieces } from './pieces.ts';
import { observe } from './signals.ts';
import { MAX_EVENT_BYTES } from '../sse/held-bytes.ts';
import { StreamStart, textOf } from '../sse/stream-start.ts';
import { OPEN_OBJECT } from '../json/scan.ts';

/** Both sides of a reply: how the upstream's format is decoded and how the client's is written. */
export interface Translation {
  readonly upstream: Pick<Format, 'decodeReply' | 'decodeStream'>;
  readonly client: Pick<Format, 'encodeReply' | 'encodeStream'>;
  readonly reply: ReplyContext;
  readonly context: ClientContext;
}

/** The reader for a reply in the upstream's format that is sent in the client's. */
export function translatingReader(
  translation: Translation,
  stream: boolean,
  contentType: string,
  signals: Signals = createSignals(),
): PassThrough {
  if (!stream) return new WholeReader(translation, signals, asBody);
  if (contentType.includes('event-stream')) return new StreamReader(translation, signals);
  return new UndeclaredReader(translation, signals);
}

type Write = (events: readonly GenerationEvent[], translation: Translation, notes: LossNotes) => Buffer;

const asBody: Write = (events, { client, context }, notes) => client.encodeReply(events, context, notes);
const asStream: Write = (events, { client, context }, notes) =>
  Buffer.from(client.encodeStream({ ...context, holdBytes: Infinity }, notes).push(events));

/** Translates a stream event by event. The decoded events also update the signals, so nothing is read twice. */
class StreamReader implements PassThrough {
  readonly signals: Signals;
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;

  constructor({ upstream, client, reply, context }: Translation, signals: Signals) {
    this.signals = signals;
    this.#encoder = client.encodeStream(context, signals);
    this.#decoder = upstream.decodeStream(reply, signals, this.#encoder.pushBytes !== undefined);
  }

  push(bytes: Buffer): Buffer | undefined {
    const before = this.#decoder.progress;
    const events = this.#decoder.push(bytes);
    // A decoder that collects audio or a whole block makes progress without returning events.
    if (this.#decoder.progress !== before) this.signals.progress += 1;
    if (this.#decoder.begun) this.signals.begun = true;
    return this.#pass(events);
  }

  end(): Buffer | undefined {
    return this.#pass(this.#decoder.end());
  }

  #pass(events: readonly GenerationEvent[]): Buffer | undefined {
    if (events.length === 0) return undefined;
    observe(this.signals, events);
    const bytes = this.#encoder.pushBytes ? this.#encoder.pushBytes(events) : bytesOf(this.#encoder.push(events));
    this.signals.failure ??= this.#encoder.failure;
    return bytes;
  }
}

/** Reads a whole reply, then decodes and writes it at once. Plain replies are bounded by the caller. */
class WholeReader implements PassThrough {
  readonly signals: Signals;
  readonly #translation: Translation;
  readonly #write: Write;
  readonly #pieces = new Pieces();
  #held = 0;

  constructor(translation: Translation, signals: Signals, write: Write) {
    this.#translation = translation;
    this.signals = signals;
    this.#write = write;
  }

  push(bytes: Buffer): undefined {
    this.#pieces.add(bytes);
    this.#held += bytes.length;
    this.signals.progress += 1;
    if (this.#write === asBody || this.#held <= MAX_EVENT_BYTES) return;
    this.#pieces.clear();
    const message = `The reply exceeds ${MAX_EVENT_BYTES} bytes, the limit for a reply that is served as a stream.`;
    this.signals.failure = { status: 502, kind: 'reply_too_large', message };
  }

  end(): Buffer | undefined {
    const { upstream, reply } = this.#translation;
    const events = upstream.decodeReply(parseReply(this.#pieces.bytes()), reply, this.signals);
    observe(this.signals, events);
    return this.signals.failure ? undefined : this.#write(events, this.#translation, this.signals);
  }
}

/**
 * The client requested a stream, and the reply is not declared as one. Google without `alt=sse` streams a JSON array as
 * `application/json`. A proxy may send the whole reply at once, which is then served as a stream.
 */
class UndeclaredReader implements PassThrough {
  readonly signals: Signals;
  readonly #translation: Translation;
  readonly #start = new StreamStart();
  #reader: PassThrough | undefined;

  constructor(translation: Translation, signals: Signals) {
    this.#translation = translation;
    this.signals = signals;
  }

  push(bytes: Buffer): Buffer | undefined {
    return this.#reader ? this.#reader.push(bytes) : this.#begin(bytes);
  }

  end(): Buffer | undefined {
    if (!this.#reader) throw new ReplyFault('the reply is empty');
    return this.#reader.end();
  }

  #begin(received: Buffer): Buffer | undefined {
    const { bytes, first } = this.#start.read(received);
    if (first === undefined) return undefined;
    this.#reader =
      bytes[first] === OPEN_OBJECT
        ? new WholeReader(this.#translation, this.signals, asStream)
        : new StreamReader(this.#translation, this.signals);
    return this.#reader.push(bytes);
  }
}

function parseReply(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new ReplyFault('the reply is empty');
  try {
    return parseReplyText(textOf(bytes));
  } catch (error) {
    throw new ReplyFault('the reply is not valid JSON', { cause: error });
  }
}
