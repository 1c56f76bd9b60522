import { createSignals } from '../formats/events.ts';
import type { Cancellation, Reply, ReplyReaderLike } from '../plugin/index.ts';

/** A byte budget shared by several replies. */
export class ByteCount {
  readonly limit: number;
  #left: number;

  /** @param spent bytes of earlier replies that are still held */
  constructor(limit: number, spent: number) {
    this.limit = limit;
    this.#left = limit - spent;
  }

  /** False: the budget is exceeded. */
  add(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }
}

/** Collects a whole body. Replies received in parallel count against one budget as their bytes arrive. */
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

/** Reads a whole reply. Rejects with the failure or the cancellation that ends it. */
export function readWhole(body: Reply['body'], cancellation: Cancellation): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return Promise.resolve(body);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  // A cancelled source no longer calls its sink.
  const stopListening = cancellation.onCancel(reject);
  body.open({
    push: (bytes) => void pieces.push(bytes),
    end: () => resolve(Buffer.concat(pieces)),
    fail: reject,
  });
  // A remaining listener would keep the bytes in memory until the parallel calls end.
  return promise.finally(stopListening);
}
