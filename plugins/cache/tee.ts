import type { GatewayError, Sink, Source } from '../../src/plugin/index.ts';

/**
 * Forwards a body unchanged and buffers up to `limit` bytes. Calls `onComplete` with all bytes after a successful end;
 * discards an interrupted, cancelled or too large body.
 */
export class Tee implements Source, Sink {
  readonly #source: Source;
  readonly #limit: number;
  readonly #onComplete: (bytes: Buffer) => void;
  #pieces: Buffer[] | undefined = [];
  #size = 0;
  #sink: Sink | undefined;

  constructor(source: Source, limit: number, onComplete: (bytes: Buffer) => void) {
    this.#source = source;
    this.#limit = limit;
    this.#onComplete = onComplete;
  }

  // Towards the client

  open(sink: Sink): void {
    this.#sink = sink;
    this.#source.open(this);
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(reason: GatewayError): void {
    this.#pieces = undefined;
    this.#source.cancel(reason);
  }

  // From the upstream

  push(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > this.#limit) this.#pieces = undefined;
    this.#pieces?.push(bytes);
    this.#sink?.push(bytes);
  }

  end(): void {
    if (this.#pieces) this.#onComplete(Buffer.concat(this.#pieces, this.#size));
    this.#pieces = undefined;
    this.#sink?.end();
  }

  fail(error: GatewayError): void {
    this.#pieces = undefined;
    this.#sink?.fail(error);
  }
}
