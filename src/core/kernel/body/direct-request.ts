import { IncomingMessage } from 'node:http';

/** Takes the bytes of a body as the parser finds them. Its functions do not throw. */
export interface BodySink {
  takePiece(piece: Buffer): void;
  endBody(): void;
  breakBody(cause: Error | null): void;
  /** The rest of the body comes by the stream, which another reader has begun to use. */
  leaveToStream(): void;
}

/**
 * A request whose body can pass by the stream, with its buffer, events and ticks. Without a sink it is node:http's own,
 * and so it is from the moment on at which anyone else reads, pipes or pauses it.
 */
export class DirectRequest extends IncomingMessage {
  #sink: BodySink | undefined;

  /** The body goes to the sink. False: it has begun to arrive, or the stream has a reader. */
  takeBody(sink: BodySink): boolean {
    if (this.complete || this.readableLength > 0 || this.readableFlowing !== null) return false;
    this.#sink = sink;
    // Makes the socket flow, and tells node:http that the body has a reader.
    this._read(0);
    return true;
  }

  /** The rest of the body goes into the stream. */
  returnBody(): void {
    this.#sink = undefined;
  }

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    const sink = this.#sink;
    if (sink && piece !== null && this.readableFlowing === null) {
      sink.takePiece(piece);
      return true;
    }
    this.#sink = undefined;
    const isShared = this.readableFlowing !== null;
    if (isShared) sink?.leaveToStream();
    const goesOn = super.push(piece, encoding);
    if (!sink || isShared) return goesOn;
    // Whoever listens for the end, or reads later, finds a stream that has ended; and node:http lets the request go.
    this.read();
    sink.endBody();
    return goesOn;
  }

  override _destroy(cause: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#sink) return super._destroy(cause, done);
    super._destroy(cause, (error) => {
      done(error);
      // When an error event would come: after the end of the reply that is being written has cancelled its request.
      this.#sink?.breakBody(cause);
    });
  }
}
