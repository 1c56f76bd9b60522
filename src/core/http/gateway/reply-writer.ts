import type { ServerResponse } from 'node:http';
import { namedIfHeld } from '../chain/wrapped-body.ts';
import type { Format } from '../../../formats/format.ts';
import { cancelReply, errorReply } from '../../kernel/reply.ts';
import { GatewayError, type Clock, type Reply, type ReplyEnd, type Sink, type Source } from '../../../plugin/index.ts';
import { toClientError, type Exchange } from '../../kernel/index.ts';
import type { LeavingReply } from './admission/in-flight.ts';

/** A client that reads nothing for this long, while the end of its reply waits in the buffers, is disconnected. */
const LINGER_MS = 30_000;

/** A client that takes less than one such slice of a complete reply within `LINGER_MS` counts as not reading. */
const SLICE = 256 * 1024;
/** The largest body that leaves in one write with its head, in bytes. */
const JOINED = 16 * 1024;
const EMPTY = Buffer.alloc(0);
const ignore = (): void => {};

const mediaType = (contentType: string): string => contentType.split(';', 1)[0]!.trim().toLowerCase();

const outOfTime = (): GatewayError =>
  new GatewayError('timeout_request', "The client did not take the reply before the request's deadline.");

/** An attempt has its own timer for the deadline, and its error is more specific, so that timer must fire first. */
export const GRACE_MS = 50;

/** Since the last byte: load balancers cut silent connections (docs/protocols/messages-route.md#heartbeat). */
const HEARTBEAT_MS = 15_000;

interface WriteSetup {
  readonly clock: Clock;
  readonly exchange: Pick<Exchange, 'id' | 'replyId'> & Partial<Pick<Exchange, 'attempts'>>;
  /** The request must end by this moment (monotonic), whether or not its client reads. */
  readonly deadline: number;
  readonly format: Format;
  /** Called once, when the reply has ended. `error` is the error that the client received. */
  readonly onEnd: (end: ReplyEnd) => void;
  /** Called once for a head that cannot be written, such as one with a line break in a value. */
  readonly onFault: (fault: unknown, requestId: string) => void;
  readonly error: GatewayError | undefined;
}

/** Writes a reply to the client, with backpressure. Call `closed` when the response emits `close`. */
export function writeReply(res: ServerResponse, reply: Reply, setup: WriteSetup): LeavingReply {
  const writer = new ReplyWriter(res, reply, setup);
  if (res.destroyed || res.writableEnded) writer.clientLeft();
  else writer.begin();
  return writer;
}

class ReplyWriter implements Sink, LeavingReply {
  readonly #res: ServerResponse;
  #reply: Reply;
  readonly #setup: WriteSetup;
  #source: Source | undefined;
  #bytes = 0;
  #error: GatewayError | undefined;
  #abortedBy: GatewayError | undefined;
  #settled = false;
  #closing = false;
  #corked = false;
  #rest: Buffer = EMPTY;
  #stopLinger: (() => void) | undefined;
  #stopHeartbeat: (() => void) | undefined;
  #lastAt = 0;
  /** The last bytes. Undefined where the heartbeat does not depend on them. */
  #last: Buffer | undefined;

  constructor(res: ServerResponse, reply: Reply, setup: WriteSetup) {
    this.#res = res;
    this.#reply = reply;
    this.#setup = setup;
    this.#error = setup.error;
  }

  get leaving(): boolean {
    return this.#closing;
  }

  /** node:http throws for a head that it cannot write. The client gets an error in its place. */
  begin(): void {
    try {
      this.#start();
    } catch (cause) {
      const { exchange, format, onFault } = this.#setup;
      const error = new GatewayError('internal_error', 'The reply cannot be written.', { cause });
      onFault(cause, exchange.id);
      if (this.#res.headersSent) return this.#giveUp(error);
      cancelReply(this.#reply, error);
      this.#error = error;
      this.#source = undefined;
      this.#reply = errorReply(error, format, exchange.id);
      this.#reply.headers[format.requestIdHeader] = exchange.id;
      this.#start();
    }
  }

  #giveUp(error: GatewayError): void {
    this.#abortedBy = error;
    this.#res.destroy();
    this.clientLeft();
  }

  #start(): void {
    const { body } = this.#reply;
    // Without a listener, a write after the client has disconnected would end the process.
    this.#res.on('error', ignore);
    // The writer does the framing. A plugin may have replaced the body, so its old length must not be sent.
    delete this.#reply.headers['content-length'];
    this.#res.removeHeader('content-length');
    if (Buffer.isBuffer(body)) {
      // A 204 has no `content-length` (RFC 9110, section 8.6). `setHeader` is avoided: with it, `writeHead` adds all
      // the headers one by one.
      if (this.#reply.status !== 204) this.#reply.headers['content-length'] = String(body.length);
      this.#res.writeHead(this.#reply.status, this.#reply.headers);
      this.#closing = true;
      this.#bytes = body.length;
      this.#rest = body;
      if (body.length > SLICE) this.#res.on('drain', () => this.#writeRest());
      this.#writeRest();
      this.#linger();
      return;
    }
    this.#source = body;
    this.#res.on('drain', () => this.#source?.resume());
    this.#res.writeHead(this.#reply.status, this.#reply.headers);
    // The bytes that the source has buffered leave in one write with the head.
    this.#cork();
    body.open(this);
    this.#uncork();
    // Without content the head is flushed alone: the first event may take long.
    if (this.#bytes === 0 && !this.#closing) this.#res.flushHeaders();
    this.#lastAt = this.#setup.clock.now();
    this.#scheduleHeartbeat();
  }

  push(bytes: Buffer): void {
    if (this.#closing) return;
    this.#bytes += bytes.length;
    this.#lastAt = this.#setup.clock.now();
    if (typeof this.#setup.format.heartbeat === 'function') this.#last = bytes;
    if (!this.#res.write(bytes)) this.#source?.pause();
  }

  end(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#uncork();
    this.#res.end();
    this.#linger();
  }

  fail(error: GatewayError): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#error = error;
    // A body that is not a stream can signal failure only by a cut connection. Otherwise it would look complete.
    if (!this.#reply.stream) return void this.#res.destroy();
    this.#uncork();
    const { format, exchange } = this.#setup;
    const reported = toClientError(error, exchange.id, exchange.replyId);
    const event = Buffer.from(format.encodeStreamError(reported, this.#bytes > 0));
    this.#bytes += event.length;
    this.#res.end(event);
    this.#linger();
  }

  /** The gateway ends the reply: a stream with an error event, any other reply by closing its connection. */
  abort(reason: GatewayError): void {
    if (this.#settled) return;
    // A reply whose end is already written may still reach its client, and is then complete.
    this.#abortedBy = reason;
    if (this.#closing) return;
    cancelReply(this.#reply, reason);
    this.fail(reason);
  }

  closed(): void {
    if (this.#res.writableFinished) this.#settle(this.#error ? 'failed' : 'complete');
    else this.clientLeft();
  }

  clientLeft(): void {
    if (this.#settled) return;
    const reason =
      this.#error ??
      this.#abortedBy ??
      new GatewayError('client_closed', 'The client left before the end of the reply.');
    if (!this.#closing) cancelReply(this.#reply, reason);
    this.#closing = true;
    this.#error = reason;
    this.#settle(reason.code === 'client_closed' ? 'aborted' : 'failed');
  }

  #cork(): void {
    this.#corked = true;
    this.#res.cork();
  }

  /** One timer per stream: when it is due, it starts again for the rest of the 15 s since the last byte. */
  #scheduleHeartbeat(): void {
    if (this.#closing || this.#settled) return;
    const { clock, deadline } = this.#setup;
    const ms = Math.max(0, Math.min(this.#lastAt + HEARTBEAT_MS, deadline + GRACE_MS) - clock.now());
    this.#stopHeartbeat = clock.after(ms, () => {
      if (this.#closing) return;
      // Without this, a client that does not read would keep a finished upstream reply in memory, and a plugin's body
      // might never end.
      const now = clock.now();
      if (now >= deadline) return this.abort(this.#res.writableNeedDrain ? outOfTime() : this.#deadlinePassed());
      if (now - this.#lastAt >= HEARTBEAT_MS) {
        // Only whole events have been written, so a heartbeat falls between two. A client that does not read needs none.
        if (this.#hasHeartbeats && !this.#res.writableNeedDrain) this.#write(this.#heartbeat());
        this.#lastAt = now;
      }
      this.#scheduleHeartbeat();
    });
  }

  #deadlinePassed(): GatewayError {
    const error = new GatewayError('timeout_request', "The reply was not complete before the request's deadline.");
    return this.#source ? namedIfHeld(error, this.#source) : error;
  }

  #heartbeat(): string {
    const { exchange, format } = this.#setup;
    if (typeof format.heartbeat === 'string') return format.heartbeat;
    const last = this.#last;
    return format.heartbeat(last && { last, signals: exchange.attempts?.at(-1)?.signals });
  }

  #write(event: string): void {
    this.#bytes += Buffer.byteLength(event);
    this.#res.write(event);
  }

  /** A stream in the form that the client's API has for streams. A plugin may have replaced it. */
  get #hasHeartbeats(): boolean {
    const { headers, stream } = this.#reply;
    return stream && mediaType(headers['content-type'] ?? '') === mediaType(this.#setup.format.contentType.stream);
  }

  /** Before `end`, or node:http loses the corked bytes; and once, because its cork count may go below zero. */
  #uncork(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.#res.uncork();
  }

  /** Writes a large reply in slices: only the `drain` events between them show how fast the client reads. */
  #writeRest(): void {
    if (this.#settled || this.#res.writableEnded) return;
    while (this.#rest.length > SLICE) {
      const slice = this.#rest.subarray(0, SLICE);
      this.#rest = this.#rest.subarray(SLICE);
      if (!this.#res.write(slice)) return;
    }
    const last = this.#rest;
    this.#rest = EMPTY;
    // node:http joins a head with a text only. In latin1 each byte is one character.
    if (last.length <= JOINED) this.#res.end(last.toString('latin1'), 'latin1');
    else this.#res.end(last);
  }

  /** Each slice that the client reads renews its time, until the deadline. */
  #linger(): void {
    const { socket, writableFinished, writableLength } = this.#res;
    // The kernel has taken everything, as it does with nearly every reply: `finish` follows without the client.
    if (writableFinished || (socket && writableLength === 0)) return;
    const { clock, deadline } = this.#setup;
    const left = this.#rest.length;
    this.#stopLinger = clock.after(LINGER_MS, () => {
      const reads = this.#rest.length < left;
      if (reads && clock.now() < deadline) return this.#linger();
      if (reads) this.#abortedBy ??= outOfTime();
      this.#res.destroy();
    });
  }

  #settle(state: ReplyEnd['state']): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#stopLinger?.();
    this.#stopHeartbeat?.();
    this.#setup.onEnd({ state, status: this.#reply.status, bytes: this.#bytes, error: this.#error });
  }
}
