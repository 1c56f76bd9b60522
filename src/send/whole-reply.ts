import { createSignals } from '../formats/events.ts';
import type { Cancellation, Reply, ReplyReaderLike } from '../plugin/index.ts';

/** Bytes that several replies may have together. */
export class ByteCount {
  readonly limit: number;
  #left: number;

  /** @param spent of earlier replies that are still held */
  constructor(limit: number, spent: number) {
    this.limit = limit;
    this.#left = limit - spent;
  }

  /** False where they are too many. */
  add(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }
}

/** A body as it came, all at once; several at a time count together as they come, not when they are there. */
export class CountingReader implements ReplyReaderLike {
  readonly signals = createSignals();
  readonly #count: ByteCount;
  readonly #pieces: Buffer[] = [];

  constructor(count: ByteCount) {
    this.#count = count;
  }

  push(bytes: Buffer): undefined {
    this.signals.progress += 1;
    if (this.#count.add(bytes.length)) this.#pieces.push(bytes);
    else {
      const message = `The replies to one request together exceed ${this.#count.limit} bytes (limits.reply).`;
      this.signals.failure = { status: 502, kind: 'reply_too_large', message };
    }
  }

  end(): Buffer {
    this.signals.ended = true;
    return Buffer.concat(this.#pieces);
  }
}

/** What a reply says, once all of it is there. Rejects with the failure that ends it, or with the reason it was cancelled for. */
export function readWhole(body: Reply['body'], cancellation: Cancellation): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return Promise.resolve(body);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  // A source that is cancelled calls its sink no more.
  const stopListening = cancellation.onCancel(reject);
  body.open({
    push: (bytes) => void pieces.push(bytes),
    end: () => resolve(Buffer.concat(pieces)),
    fail: reject,
  });
  // A listener that stayed would hold the bytes for as long as the calls beside this one take.
  return promise.finally(stopListening);
}
