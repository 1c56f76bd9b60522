import type { Cancellation } from '../../plugin/cancellation.ts';
import { GatewayError } from '../../plugin/errors.ts';
import type { Source } from '../../plugin/reply.ts';

/** Reads a body to its end. Rejects with the error of the upstream or the client, or with `reply_too_large`. */
export const wholeBody = (source: Source, most: number, cancellation: Cancellation): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let over = false;
    const end = (settle: () => void): void => {
      if (over) return;
      over = true;
      stopListening();
      settle();
    };
    const giveUp = (reason: GatewayError): void =>
      end(() => {
        source.cancel(reason);
        reject(reason);
      });
    const stopListening = cancellation.onCancel(giveUp);
    if (cancellation.reason) return giveUp(cancellation.reason);
    source.open({
      push(piece) {
        if (over) return;
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > most)
          giveUp(
            new GatewayError(
              'reply_too_large',
              `The reply has more than ${most} bytes, which a plugin wants to read whole.`,
            ),
          );
      },
      end: () => end(() => resolve(Buffer.concat(pieces))),
      fail: (error) => end(() => reject(error)),
    });
  });

/** A body that was read whole, as a source: for a plugin that watches it. */
export class Collected {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  readonly #most: number;
  readonly #onWhole: (body: Buffer | undefined) => void;

  /** @param onWhole gets undefined for a body of more bytes */
  constructor(most: number, onWhole: (body: Buffer | undefined) => void) {
    this.#most = most;
    this.#onWhole = onWhole;
  }

  push(bytes: Buffer): undefined {
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#most) this.#pieces.push(bytes);
    else this.#pieces.length = 0;
  }

  end(): undefined {
    this.#onWhole(this.#bytes <= this.#most ? Buffer.concat(this.#pieces) : undefined);
  }
}
