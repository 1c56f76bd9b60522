import { Socket } from 'node:net';

/** What is on its way between sockets in memory, so that it can be told when nothing is. */
export class Traffic {
  #underWay = 0;

  get still(): boolean {
    return this.#underWay === 0;
  }

  /** Like a network's: what is sent arrives in a later turn of the event loop, in its order. */
  carry(deliver: () => void): void {
    this.#underWay += 1;
    setImmediate(() => {
      this.#underWay -= 1;
      deliver();
    });
  }
}

type WriteCallback = (error?: Error | null) => void;

/**
 * One end of a connection that no network knows of. A `Socket` because node:http and undici take one for what it is, down to its
 * address; nothing in it is ever opened.
 */
export class MemorySocket extends Socket {
  readonly #traffic: Traffic;
  #peer: MemorySocket | undefined;
  /** The other side has written more than was read here, and waits. */
  #resume: (() => void) | undefined;

  /** The other side has said its last. */
  #ended = false;

  constructor(traffic: Traffic) {
    super();
    // Of a Socket it is read from a handle, which there is none of.
    Object.defineProperty(this, 'remoteAddress', { value: '127.0.0.1' });
    this.#traffic = traffic;
  }

  /** Two ends; a Socket of its own for each side. */
  static pair(traffic: Traffic): readonly [MemorySocket, MemorySocket] {
    const [one, other] = [new MemorySocket(traffic), new MemorySocket(traffic)];
    one.join(other);
    return [one, other];
  }

  join(peer: MemorySocket): void {
    this.#peer = peer;
    peer.#peer = this;
  }

  /** node:http would count real time on it; the gateway's own limits are on the case's clock. */
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

  /** What was corked together arrives together. */
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
    // A Socket leaves this to its handle, which there is none of.
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
    // Or who reads nothing at the moment would not be told.
    peer.read(0);
  }
}
