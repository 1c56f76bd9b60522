import { addPiece } from '../../src/core/kernel/index.ts';
import { WrappedSource, type GatewayError, type Source } from '../../src/plugin/index.ts';

/**
 * Forwards a body unchanged and buffers up to `limit` bytes. Calls `onComplete` with all bytes after a successful end;
 * discards an interrupted, cancelled or too large body.
 */
export class Tee extends WrappedSource {
  readonly #limit: number;
  readonly #onComplete: (bytes: Buffer) => void;
  #pieces: Buffer[] | undefined = [];
  #size = 0;

  constructor(source: Source, limit: number, onComplete: (bytes: Buffer) => void) {
    super(source);
    this.#limit = limit;
    this.#onComplete = onComplete;
  }

  override cancel(reason: GatewayError): void {
    this.#pieces = undefined;
    super.cancel(reason);
  }

  override push(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > this.#limit) this.#pieces = undefined;
    if (this.#pieces) addPiece(this.#pieces, bytes);
    super.push(bytes);
  }

  override end(): void {
    if (this.#pieces) this.#onComplete(Buffer.concat(this.#pieces, this.#size));
    this.#pieces = undefined;
    super.end();
  }

  override fail(error: GatewayError): void {
    this.#pieces = undefined;
    super.fail(error);
  }
}
