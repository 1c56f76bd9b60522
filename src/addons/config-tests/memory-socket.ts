import { Socket } from 'node:net';

/** Counts the deliveries in transit between memory sockets, to detect when there are none. */
export class Traffic {
  #inTransit = 0;

  get still(): boolean {
    return this.#inTransit === 0;
  }

  /** Delivers like a network: in a later turn of the event loop, in order. */
  carry(deliver: () => void): void {
    this.#inTransit += 1;
    setImmediate(() => {
      this.#inTransit -= 1;
      deliver();
    });
  }
}

type WriteCallback = (error?: Error | null) => void;

/** One end of a connection in memory. node:http and undici require a `Socket`; this one opens nothing. */
export class MemorySocket extends Socket {
  readonly #traffic: Traffic;
  #peer: MemorySocket | undefined;
  /** Continues the peer's write, which waits for this side to read. */
  #resume: (() => void) | undefined;

  #ended = false;

  constructor(traffic: Traffic) {
    super();
    // A Socket reads it from its handle; this one has none.
    Object.defineProperty(this, 'remoteAddress', { value: '127.0.0.1' });
    this.#traffic = traffic;
  }

  static pair(traffic: Traffic): readonly [MemorySocket, MemorySocket] {
    const [one, other] = [new MemorySocket(traffic), new MemorySocket(traffic)];
    one.join(other);
    return [one, other];
  }

  join(peer: MemorySocket): void {
    this.#peer = peer;
    peer.#peer = this;
  }

  /** Disables node:http's timers, which run on real time; the gateway's own limits use the test clock. */
  override setTimeout(): this {
    return this;
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, callback: WriteCallback): void {
    this.#send(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk, callback);
  }

  /** Corked chunks arrive together. */
  override _writev(
    chunks: readonly { readonly chunk: Buffer | string; readonly encoding: BufferEncoding }[],
    callback: WriteCallback,
  ): void {
    const pieces = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    this.#send(Buffer.concat(pieces), callback);
  }

  override _final(callback: WriteCallback): void {
    this.#traffic.carry(() => {
      this.#endOther();
      callback();
    });
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#resume?.();
    this.#resume = undefined;
    this.#traffic.carry(() => this.#endOther());
    callback(error);
    // A Socket's handle emits `close`; this one has no handle.
    process.nextTick(() => this.emit('close', error !== null));
  }

  #send(bytes: Buffer, callback: WriteCallback): void {
    this.#traffic.carry(() => {
      const peer = this.#peer;
      if (!peer || peer.destroyed || peer.#ended) callback();
      else if (peer.push(bytes)) callback();
      else peer.#resume = callback;
    });
  }

  #endOther(): void {
    const peer = this.#peer;
    if (!peer || peer.destroyed || peer.#ended) return;
    peer.#ended = true;
    peer.push(null);
    // Without this, a peer that is not reading would not see the end.
    peer.read(0);
  }
}
