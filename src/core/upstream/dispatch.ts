import type { Dispatcher } from 'undici';
import { codingOf, decoderOf, DecodeFault, type ContentDecoder } from '../kernel/body/content-decoder.ts';
import { UpstreamError, type ErrorCode, type GatewayError } from '../../plugin/index.ts';
import type { Listed } from '../kernel/live-list.ts';
import type { Connection } from './connection.ts';
import { isConnectionClosed, toTransportError } from './faults.ts';
import type { OriginPool } from './pool.ts';

/** The error with which undici drops a request. Shared, because it is never shown. */
const ABANDONED = new UpstreamError('connection_failed', 'The request was abandoned.');

const FAULTS: Readonly<Record<DecodeFault['kind'], ErrorCode>> = {
  corrupt: 'upstream_error',
  cut: 'stream_interrupted',
  dense: 'reply_too_large',
};

/** True while undici's parser calls the gateway. The process has one parser, which asserts that it is not entered twice. */
let parsing = false;

/** undici calls a handler in the async context that opened the socket: all state is in fields. */
export abstract class Dispatch implements Dispatcher.DispatchHandler, Listed<Dispatch> {
  readonly options: Dispatcher.DispatchOptions;
  /** The caller, by which the waiting line takes turns. */
  readonly caller: string;
  list: object | undefined;
  older: Dispatch | undefined;
  newer: Dispatch | undefined;
  protected readonly pool: OriginPool;
  /** Sent a second time because the connection had died unnoticed. */
  protected resent = false;
  /** The whole request has left the process, and its reply is complete. */
  protected delivered = false;
  /** Set for a coded reply. `onBytes` and `onComplete` get the decoded bytes. */
  #decoder: ContentDecoder | undefined;
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

  /** Called when all connections are in use and the request waits in line. */
  onWaiting(): void {}

  /** Called when the request has left the line and has a connection. */
  onTurn(): void {}

  /** Called when the connection is open and the request is being written. */
  protected abstract onSent(): void;
  protected abstract onHeaders(status: number, headers: Record<string, string>): void;
  protected abstract onBytes(bytes: Buffer): void;
  protected abstract onComplete(): void;
  /** Called when the transport has failed. Neither this nor `onComplete` is called after the other, or after `stop`. */
  abstract onFault(error: GatewayError): void;

  protected get canResend(): boolean {
    return true;
  }

  protected get over(): boolean {
    return this.#over;
  }

  /** Ends the request immediately, without further callbacks. A connection in use is destroyed. */
  protected stop(): void {
    this.#decoder?.destroy();
    if (this.#over) return;
    this.#over = true;
    if (this.#controller) this.#controller.abort(ABANDONED);
    else this.#connection?.abandonDial(ABANDONED);
    this.pool.leave(this);
  }

  protected pauseReading(): void {
    this.#controller?.pause();
    this.#decoder?.pause();
  }

  protected resumeReading(): void {
    this.#decoder?.resume();
    if (this.#decoder?.writableNeedDrain) return;
    if (parsing) queueMicrotask(() => this.#controller?.resume());
    else this.#controller?.resume();
  }

  board(connection: Connection): void {
    this.#connection = connection;
    // After a restart of the upstream all connections may be dead. A body that cannot be resent gets a new one.
    if (this.resent || !this.canResend) connection.drop();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown rather than aborted, so that undici drops the request and keeps the connection.
    if (this.#over) throw ABANDONED;
    this.#controller = controller;
    this.#reused = (this.#connection?.served ?? 0) > 0;
    this.onSent();
  }

  onResponseStarted(): void {
    this.#replyBegun = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx: the final reply follows (RFC 9110, 15.2).
    if (this.#over || status < 200) return;
    this.#headersSeen = true;
    // A Buffer of each name and value, which undici would keep as long as the reply (measured: 2 KB for 6 headers).
    controller.rawHeaders = null;
    const received = flatten(headers);
    if (received['content-encoding'] !== undefined) this.#decode(received);
    parsing = true;
    try {
      this.onHeaders(status, received);
    } finally {
      parsing = false;
    }
  }

  /** The gateway asks for no coding, and some servers and front ends use one nevertheless. */
  #decode(headers: Record<string, string>): void {
    const decoder = decoderOf(codingOf(headers['content-encoding']) ?? '');
    if (!decoder) return;
    this.#decoder = decoder;
    // These headers describe the coded body.
    delete headers['content-encoding'];
    delete headers['content-length'];
    decoder
      .on('data', (bytes: Buffer) => {
        if (!decoder.destroyed) this.onBytes(bytes);
      })
      .on('drain', () => {
        if (!decoder.isPaused()) this.#controller?.resume();
      })
      .on('end', () => this.onComplete())
      .on('error', (cause) => {
        const code = cause instanceof DecodeFault ? FAULTS[cause.kind] : 'upstream_error';
        this.onFault(new UpstreamError(code, `The reply of ${this.pool.host} ${cause.message}.`, { cause }));
      });
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#over) return;
    if (this.#decoder) {
      if (!this.#decoder.write(bytes)) this.#controller?.pause();
      return;
    }
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
    if (this.#connection) {
      this.#connection.served += 1;
      this.delivered = this.#connection.hasWrittenAll;
    }
    this.pool.leave(this);
    if (this.#decoder) {
      // The connection serves another request from now on, so it must not be paused or aborted.
      this.#controller = undefined;
      this.#decoder.end();
      return;
    }
    parsing = true;
    try {
      this.onComplete();
    } finally {
      parsing = false;
    }
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#over) return;
    if (this.#reused && this.canResend && !this.#replyBegun && !this.resent && isConnectionClosed(error)) {
      this.#resend();
      return;
    }
    this.#over = true;
    this.#decoder?.destroy();
    this.pool.leave(this);
    this.onFault(toTransportError(error, this.pool.host, this.#headersSeen));
  }

  /**
   * Resends the request once. A kept-alive connection that fails before any byte of the reply was most likely closed by
   * the other side while idle, at the moment when the request was sent (RFC 9112, 9.3.1 and 9.5).
   */
  #resend(): void {
    this.resent = true;
    this.#controller = undefined;
    this.#connection = undefined;
    // Deferred, because undici is still closing the connection.
    queueMicrotask(() => {
      if (!this.#over) this.pool.reenter(this);
    });
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
