import type { GatewayError } from './errors.ts';
import type { Sink, Source } from './reply.ts';

/**
 * Forwards the body of a reply unchanged: `reply.body = new Mine(reply.body)`. A subclass overrides what it watches or changes, and
 * calls `super`. `push` gets whole events of the forms `sse` and `json-array`, and pieces of any other body.
 */
export class WrappedSource implements Source, Sink {
  readonly #source: Source;
  #sink: Sink | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

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

  /** The client gets nothing after it, also of what a subclass holds back. */
  cancel(reason: GatewayError): void {
    this.#sink = undefined;
    this.#source.cancel(reason);
  }

  push(bytes: Buffer): void {
    this.#sink?.push(bytes);
  }

  end(): void {
    this.#sink?.end();
  }

  fail(error: GatewayError): void {
    this.#sink?.fail(error);
  }
}
