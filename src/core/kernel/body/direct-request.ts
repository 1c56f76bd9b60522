import { IncomingMessage } from 'node:http';

/** Takes the bytes of a body as the parser finds them. None of its functions throws. */
export interface BodySink {
  takePiece(piece: Buffer): void;
  /** The body is complete. Nothing follows. */
  endBody(): void;
  /** The connection has broken. Nothing follows. */
  breakBody(cause: Error | null): void;
  /** The rest of the body comes by the stream: another reader has begun to use it. */
  leaveToStream(): void;
}

/**
 * A request of node:http whose body can pass by the stream, with its buffer, events and ticks. It is node:http's own
 * stream where no sink takes the body, and from the moment on at which anyone else reads, pipes or pauses it.
 */
export class DirectRequest extends IncomingMessage {
  #sink: BodySink | undefined;

  /** From now on the body goes to the sink. False: it has begun to arrive, or the stream has a reader. */
  takeBody(sink: BodySink): boolean {
    if (this.complete || this.destroyed || this.readableDidRead || this.readableLength > 0) return false;
    if (this.readableFlowing !== null) return false;
    this.#sink = sink;
    // Makes the socket flow, and says to node:http that the body has a reader.
    this._read(0);
    return true;
  }

  /** The rest of the body goes into the stream. */
  returnBody(): void {
    this.#sink = undefined;
  }

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    const sink = this.#sink;
    if (!sink) return super.push(piece, encoding);
    if (this.readableFlowing !== null) {
      this.#sink = undefined;
      sink.leaveToStream();
      return super.push(piece, encoding);
    }
    if (piece !== null) {
      sink.takePiece(piece);
      return true;
    }
    this.#sink = undefined;
    super.push(null);
    // Whoever listens for the end, or reads later, finds a stream that has ended; and node:http lets the request go.
    this.read();
    sink.endBody();
    return false;
  }

  override _destroy(cause: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#sink) return super._destroy(cause, done);
    // When an error event would come: the end of the reply's connection cancels the request first.
    super._destroy(cause, (error) => {
      done(error);
      const sink = this.#sink;
      this.#sink = undefined;
      sink?.breakBody(cause);
    });
  }
}
