import { toGatewayError } from '../../core/kernel/index.ts';
import type { GatewayError, Sink, Source } from '../../plugin/index.ts';
import { storeFailure } from './store-failure.ts';

/** The body of a reply from pieces that are read one by one, as fast as the client takes them. */
export class PieceSource implements Source {
  readonly #pieces: AsyncIterator<Buffer>;
  #paused: PromiseWithResolvers<void> | undefined;
  #over = false;

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  open(sink: Sink): void {
    void this.#run(sink);
  }

  pause(): void {
    if (!this.#over) this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  cancel(_: GatewayError): void {
    this.#over = true;
    this.resume();
    // Closes the file behind it; waits for a read under way.
    void this.#pieces.return?.().catch(() => {});
  }

  async #run(sink: Sink): Promise<void> {
    try {
      for (;;) {
        if (this.#paused) await this.#paused.promise;
        if (this.#over) return;
        const { done, value } = await this.#pieces.next();
        if (this.#over) return;
        if (done) break;
        sink.push(value);
      }
      this.#over = true;
      sink.end();
    } catch (error) {
      if (this.#over) return;
      this.#over = true;
      sink.fail(toGatewayError(storeFailure(error)));
    }
  }
}
