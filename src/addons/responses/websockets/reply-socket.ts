import { Socket } from 'node:net';

export interface SocketReplyHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** Receives a response that does not leave as HTTP. */
export interface ReplySink {
  head(head: SocketReplyHead): void;
  /** @param taken to be called when the bytes have left: the response waits for it when much is on its way */
  body(bytes: Buffer, taken: () => void): void;
  /** Called once. False: the response was given up before its end. */
  closed(whole: boolean): void;
}

type WriteCallback = (error?: Error | null) => void;
interface Chunk {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * A response that leaves as messages of a WebSocket: for the request path a connection like any other. A `Socket`,
 * because node:http requires one; it never opens anything.
 */
export class ReplySocket extends Socket {
  readonly #sink: ReplySink;
  #hasHead = false;
  #whole = false;

  constructor(remoteAddress: string | undefined, sink: ReplySink) {
    super();
    // A Socket reads it from its handle; this one has none.
    Object.defineProperty(this, 'remoteAddress', { value: remoteAddress });
    this.#sink = sink;
  }

  /** Ends the connection: everything written has left. */
  finish(): void {
    this.#whole = true;
    this.destroy();
  }

  override setTimeout(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer | string, encoding: BufferEncoding, callback: WriteCallback): void {
    this.#take(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, callback);
  }

  override _writev(chunks: readonly Chunk[], callback: WriteCallback): void {
    const pieces = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    this.#take(Buffer.concat(pieces), callback);
  }

  override _final(callback: WriteCallback): void {
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    callback(error);
    // A Socket's handle emits `close`; this one has no handle.
    process.nextTick(() => {
      this.emit('close', error !== null);
      this.#sink.closed(this.#whole);
    });
  }

  /** node:http writes a head in one piece, and a response to a client of HTTP/1.0 without framing. */
  #take(bytes: Buffer, callback: WriteCallback): void {
    if (this.destroyed) return callback();
    let body = bytes;
    if (!this.#hasHead) {
      this.#hasHead = true;
      const end = bytes.indexOf(HEAD_END);
      this.#sink.head(readHead(bytes.toString('latin1', 0, end)));
      body = bytes.subarray(end + HEAD_END.length);
    }
    if (body.length === 0) callback();
    else this.#sink.body(body, () => callback());
  }
}

function readHead(text: string): SocketReplyHead {
  const [first = '', ...lines] = text.split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(first.split(' ', 2)[1]), headers: new Map(headers) };
}
