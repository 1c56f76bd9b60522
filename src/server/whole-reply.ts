import { createSignals } from '../formats/events.ts';
import type { Cancellation, Reply, ReplyReaderLike } from '../plugin/index.ts';

/** A body as it came, all at once: the upstream room bounds what is held of a plain reply. */
export class CollectingReader implements ReplyReaderLike {
  readonly signals = createSignals();
  readonly #pieces: Buffer[] = [];

  push(bytes: Buffer): undefined {
    this.#pieces.push(bytes);
    this.signals.progress += 1;
  }

  end(): Buffer {
    this.signals.ended = true;
    return Buffer.concat(this.#pieces);
  }
}

/** What a reply says, once all of it is there. Rejects with the failure that ends it, or with the reason it was cancelled for. */
export function readWhole(body: Reply['body'], cancellation: Cancellation): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return Promise.resolve(body);
  return new Promise((resolve, reject) => {
    // A source that is cancelled calls its sink no more.
    cancellation.onCancel(reject);
    const pieces: Buffer[] = [];
    body.open({
      push: (bytes) => void pieces.push(bytes),
      end: () => resolve(Buffer.concat(pieces)),
      fail: reject,
    });
  });
}
