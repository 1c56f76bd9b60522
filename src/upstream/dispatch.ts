import type { Dispatcher } from 'undici';
import { UpstreamError, type GatewayError } from '../plugin/index.ts';
import type { Connection } from './connection.ts';
import { isConnectionClosed, toTransportError } from './faults.ts';
import type { OriginPool } from './pool.ts';

/** Why undici drops a request: shared, since nobody ever sees it and an error per abort costs a stack trace. */
const ABANDONED = new UpstreamError('connection_failed', 'The request was given up.');

/** undici's parser is one per process and must not be entered twice (it asserts that); true while it calls us. */
let parsing = false;

/**
 * One request on its way through a pool, as undici's handler. Everything is in fields: undici calls a handler in the async
 * context of whichever request opened the socket, so there is no ambient context here.
 */
export abstract class Dispatch implements Dispatcher.DispatchHandler {
  readonly options: Dispatcher.DispatchOptions;
  /** Whose turn it is when a connection comes free. */
  readonly caller: string;
  protected readonly pool: OriginPool;
  /** Sent a second time because the connection had died unnoticed. */
  protected resent = false;
  #controller: Dispatcher.DispatchController | undefined;
  #connection: Connection | undefined;
  #reused = false;
  #replyBegun = false;
  #headersSeen = false;
  #over = false;

  constructor(pool: OriginPool, options: Dispatcher.DispatchOptions, caller = '') {
    this.caller = caller;
    this.pool = pool;
    this.options = options;
  }

  /** All connections are in use: it waits in line for one. */
  onWaiting(): void {}

  /** It has left the line: a connection is its own. */
  onTurn(): void {}

  /** On a connection that stands: the request is being written. */
  protected abstract onSent(): void;
  protected abstract onHeaders(status: number, headers: Record<string, string>): void;
  protected abstract onBytes(bytes: Buffer): void;
  /** The reply is complete as HTTP understands it. */
  protected abstract onComplete(): void;
  /** Transport failed. Neither this nor `onComplete` is called after the other, or after `stop`. */
  abstract onFault(error: GatewayError): void;

  protected get over(): boolean {
    return this.#over;
  }

  protected start(): void {
    this.pool.enter(this);
  }

  /** Ends it where it stands; no call back follows. A connection in use is destroyed at once. */
  protected stop(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#controller) this.#controller.abort(ABANDONED);
    else this.#connection?.abandonDial(ABANDONED);
    this.pool.leave(this);
  }

  protected pauseReading(): void {
    this.#controller?.pause();
  }

  protected resumeReading(): void {
    if (parsing) queueMicrotask(() => this.#controller?.resume());
    else this.#controller?.resume();
  }

  /** The place in the pool it was given. */
  board(connection: Connection): void {
    this.#connection = connection;
    // One dead connection is often not alone: after a restart behind it all are. The second sending takes no chance.
    if (this.resent) connection.drop();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, not aborted: undici then drops the request and keeps the connection.
    if (this.#over) throw ABANDONED;
    this.#controller = controller;
    this.#reused = (this.#connection?.served ?? 0) > 0;
    this.onSent();
  }

  onResponseStarted(): void {
    this.#replyBegun = true;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx: the reply proper follows (RFC 9110, 15.2).
    if (this.#over || status < 200) return;
    this.#headersSeen = true;
    this.#guarded(() => this.onHeaders(status, flatten(headers)));
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#over) return;
    parsing = true;
    try {
      this.onBytes(bytes);
    } finally {
      parsing = false;
    }
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#connection) this.#connection.served += 1;
    this.pool.leave(this);
    this.#guarded(() => this.onComplete());
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#over) return;
    if (this.#reused && !this.#replyBegun && !this.resent && isConnectionClosed(error)) {
      this.#resend();
      return;
    }
    this.#over = true;
    this.pool.leave(this);
    this.onFault(toTransportError(error, this.pool.host, this.#headersSeen));
  }

  /**
   * A kept-alive connection that dies before any byte of the reply was most likely closed by the other side while it was
   * idle, and the request crossed that close on the wire (RFC 9112, 9.3.1 and 9.5).
   */
  #resend(): void {
    this.resent = true;
    this.#controller = undefined;
    this.#connection = undefined;
    // undici is in the middle of closing the connection.
    queueMicrotask(() => {
      if (!this.#over) this.pool.reenter(this);
    });
  }

  #guarded(task: () => void): void {
    parsing = true;
    try {
      task();
    } finally {
      parsing = false;
    }
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}
