import type { ServerResponse } from 'node:http';
import { namedIfHeld } from '../chain/wrapped-body.ts';
import type { Format } from '../formats/format.ts';
import {
  cancelReply,
  GatewayError,
  toClientError,
  type Clock,
  type Reply,
  type ReplyEnd,
  type Sink,
  type Source,
} from '../plugin/index.ts';
import type { LeavingReply } from './admission/in-flight.ts';

/** A client that has the end of its reply waiting and takes none of it for so long is let go. */
const LINGER_MS = 30_000;

/** A client that reads a reply that is there whole takes so much of it within that time, or more. */
const SLICE = 256 * 1024;
const NOTHING = Buffer.alloc(0);

const outOfTime = (): GatewayError =>
  new GatewayError('timeout_request', "The client did not take the reply before the request's deadline.");

/** An attempt has a timer of its own for the deadline, and its error says more: it comes first. */
const GRACE_MS = 50;

/**
 * A stream that is silent for this long gets a sign of life, because load balancers cut silent connections
 * (docs/protocols/messages-route.md#heartbeat).
 */
const HEARTBEAT_MS = 15_000;

export interface WriteSetup {
  readonly clock: Clock;
  readonly requestId: string;
  /** Monotonic moment the request must have ended by, whether its client reads or not. */
  readonly deadline: number;
  /** Writes the error of a stream that breaks after its start. */
  readonly format: Format;
  /** How the reply ended; called once. `error` is what the client was told. */
  readonly onEnd: (end: ReplyEnd) => void;
  readonly error: GatewayError | undefined;
}

/**
 * Writes a reply to the client: the one place that owns the response. Pushes on one side, backpressure on the other, one
 * write per push, exactly one end. What it returns can cut the reply short.
 */
export function writeReply(res: ServerResponse, reply: Reply, setup: WriteSetup): LeavingReply {
  const writer = new ReplyWriter(res, reply, setup);
  if (res.destroyed || res.writableEnded) writer.clientLeft();
  else writer.begin();
  return writer;
}

class ReplyWriter implements Sink, LeavingReply {
  readonly #res: ServerResponse;
  readonly #reply: Reply;
  readonly #setup: WriteSetup;
  #source: Source | undefined;
  #bytes = 0;
  #error: GatewayError | undefined;
  #abortedBy: GatewayError | undefined;
  #settled = false;
  #closing = false;
  #corked = false;
  /** What is still to be written of a reply that is there whole. */
  #rest: Buffer = NOTHING;
  #stopLinger: (() => void) | undefined;
  #stopHeartbeat: (() => void) | undefined;
  #silent = true;

  constructor(res: ServerResponse, reply: Reply, setup: WriteSetup) {
    this.#res = res;
    this.#reply = reply;
    this.#setup = setup;
    this.#error = setup.error;
  }

  get leaving(): boolean {
    return this.#closing;
  }

  /** node:http throws for a head that it cannot write: without an end the request would keep its place. */
  begin(): void {
    try {
      this.#start();
    } catch (cause) {
      this.#abortedBy = new GatewayError('internal_error', 'The reply cannot be written.', { cause });
      this.#res.destroy();
      this.clientLeft();
    }
  }

  #start(): void {
    const { body } = this.#reply;
    this.#res.on('finish', () => this.#settle(this.#error ? 'failed' : 'complete'));
    this.#res.on('close', () => this.clientLeft());
    // Without a listener a write after the client has gone would end the process.
    this.#res.on('error', () => {});
    // Framing is the writer's: the length of a body that another one has replaced must not stand over that.
    delete this.#reply.headers['content-length'];
    this.#res.removeHeader('content-length');
    if (Buffer.isBuffer(body)) {
      this.#closing = true;
      this.#bytes = body.length;
      // RFC 9110, section 8.6: none in a 204. Not by `setHeader`, with which node:http would go through all of them one by one.
      if (this.#reply.status !== 204) this.#reply.headers['content-length'] = String(body.length);
      this.#res.writeHead(this.#reply.status, this.#reply.headers);
      this.#rest = body;
      if (body.length > SLICE) this.#res.on('drain', () => this.#writeRest());
      this.#writeRest();
      this.#linger();
      return;
    }
    this.#source = body;
    this.#res.on('drain', () => this.#source?.resume());
    this.#res.writeHead(this.#reply.status, this.#reply.headers);
    // What the source held leaves in one write with the head.
    this.#cork();
    body.open(this);
    this.#uncork();
    // A head without content leaves by itself: the first event may be long in coming.
    if (this.#bytes === 0 && !this.#closing) this.#res.flushHeaders();
    this.#beat();
  }

  push(bytes: Buffer): void {
    if (this.#closing) return;
    this.#bytes += bytes.length;
    this.#silent = false;
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
    // A plain body that breaks has no way to say so but a cut connection; anything else would look complete.
    if (!this.#reply.stream) return void this.#res.destroy();
    this.#uncork();
    const event = Buffer.from(this.#setup.format.encodeStreamError(toClientError(error, this.#setup.requestId)));
    this.#bytes += event.length;
    this.#res.end(event);
    this.#linger();
  }

  /** The gateway itself ends the reply: a stream with an error event, anything else with its connection. */
  abort(reason: GatewayError): void {
    if (this.#settled) return;
    // What has its end written already may still reach its client, and is complete if it does.
    this.#abortedBy = reason;
    if (this.#closing) return;
    cancelReply(this.#reply, reason);
    this.fail(reason);
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

  /** One timer for a whole stream, and nothing per chunk: a silence is noticed between one and two beats after it began. */
  #beat(): void {
    if (this.#closing || this.#settled) return;
    const { clock, deadline, format } = this.#setup;
    const ms = Math.max(0, Math.min(HEARTBEAT_MS, deadline + GRACE_MS - clock.now()));
    this.#stopHeartbeat = clock.after(ms, () => {
      if (this.#closing) return;
      // Without this a client that does not read would hold what an upstream has ended, and a plugin's body might never end.
      if (clock.now() >= deadline) return this.abort(this.#res.writableNeedDrain ? outOfTime() : this.#notComplete());
      // Whole events have left, so this stands between two; a client that does not read needs none.
      if (this.#silent && this.#isEventStream && !this.#res.writableNeedDrain) this.#write(format.heartbeat);
      this.#silent = true;
      this.#beat();
    });
  }

  #notComplete(): GatewayError {
    const error = new GatewayError('timeout_request', "The reply was not complete before the request's deadline.");
    return this.#source ? namedIfHeld(error, this.#source) : error;
  }

  #write(event: string): void {
    this.#bytes += Buffer.byteLength(event);
    this.#res.write(event);
  }

  get #isEventStream(): boolean {
    return this.#reply.headers['content-type']?.startsWith('text/event-stream') ?? false;
  }

  /** Before `end`, or node:http loses what is corked; once, because its count of corks may go below zero. */
  #uncork(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.#res.uncork();
  }

  /** A large one in slices: how fast a client reads shows only in what it makes room for. */
  #writeRest(): void {
    if (this.#settled || this.#res.writableEnded) return;
    while (this.#rest.length > SLICE) {
      const slice = this.#rest.subarray(0, SLICE);
      this.#rest = this.#rest.subarray(SLICE);
      if (!this.#res.write(slice)) return;
    }
    const last = this.#rest;
    this.#rest = NOTHING;
    this.#res.end(last);
  }

  /** As long as a client reads it has its time anew, until the deadline. */
  #linger(): void {
    if (this.#res.writableFinished) return;
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
