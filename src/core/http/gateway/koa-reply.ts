import type Koa from 'koa';
import { finished, Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { EventEmitter } from 'node:events';
import { validateHeaderName, validateHeaderValue, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import { isGivenUp } from '../../kernel/outside/plugin-work.ts';
import { GatewayError, type Reply, type Sink, type Source } from '../../../plugin/index.ts';
import type { GatewayContext } from '../../kernel/index.ts';
import { replyForm } from '../../kernel/reply.ts';

/** Binds `ctx.status` and `ctx.body` to the current reply, once for the app: a request pays nothing for it. */
export function bindReplies(app: Koa): void {
  const koa: object = Object.getPrototypeOf(app.response);
  Object.defineProperties(app.response, {
    status: {
      get(this: Koa.Response): unknown {
        return holderOf(this)?.reply?.status ?? Reflect.get(koa, 'status', this);
      },
      set(this: Koa.Response, status: number) {
        if (isFenced(this)) return;
        Reflect.set(koa, 'status', status, this);
        const reply = holderOf(this)?.reply;
        if (reply) reply.status = status;
      },
    },
    body: {
      get(this: Koa.Response): unknown {
        const reply = holderOf(this)?.reply;
        if (!reply || setByKoa.has(reply)) return Reflect.get(koa, 'body', this);
        // A source is no stream of Node: middleware of Koa would write it as JSON, and Koa's own `length` and `status` read the body.
        return Buffer.isBuffer(reply.body) ? reply.body : undefined;
      },
      set(this: Koa.Response, value: unknown) {
        if (isFenced(this)) return;
        Reflect.set(koa, 'body', value, this);
        const holder = holderOf(this);
        if (holder) holder.reply = toReply(this, Reflect.get(koa, 'body', this));
      },
    },
    // All of Koa's header setters go through these two.
    ...Object.fromEntries((['set', 'remove'] as const).map((name) => [name, { value: unlessFenced(koa, name) }])),
  });
}

/** Replies whose body is Koa's own. */
const setByKoa = new WeakSet<Reply>();

/** True if the running code belongs to a plugin that has been given up. Such code changes nothing any more. */
function isFenced(response: Koa.Response): boolean {
  const { exchange } = response.ctx as unknown as Partial<GatewayContext>;
  return exchange !== undefined && isGivenUp(exchange);
}

function unlessFenced(koa: object, name: 'set' | 'remove') {
  const own = Reflect.get(koa, name) as (...args: readonly unknown[]) => void;
  return function (this: Koa.Response, ...args: readonly unknown[]): void {
    if (!isFenced(this)) own.apply(this, [...args]);
  };
}

/** A status without a body is a reply with the status text, as in Koa. 404 is Koa's default: no middleware replied. */
export function answerByStatus(response: Koa.Response): void {
  if (response.status === 404) return;
  response.body = WITHOUT_CONTENT.has(response.status) ? null : response.message;
}

/** Replies with these statuses have no content (RFC 9110). */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205, 304]);

/** The attempt within an attempt chain, otherwise the exchange. Undefined before the exchange exists. */
function holderOf(response: Koa.Response): { reply: Reply | undefined } | undefined {
  // Koa's type does not know `exchange` and `attempt`; the request path and the attempt runner set them.
  const { attempt, exchange } = response.ctx as unknown as Partial<GatewayContext>;
  return attempt ?? exchange;
}

/** A reply that a plugin made by `ctx.body`. Its headers stay on Koa's response, because they may still change. */
function toReply(response: Koa.Response, body: unknown): Reply {
  const reply: Reply = {
    status: response.res.statusCode,
    headers: {},
    body: toBody(body),
    get stream() {
      return response.type === 'text/event-stream';
    },
    get form() {
      return replyForm({ headers: { 'content-type': response.type }, stream: this.stream });
    },
  };
  setByKoa.add(reply);
  return reply;
}

function toBody(body: unknown): Buffer | Source {
  if (body === undefined || body === null) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Readable) return new ReadableSource(body);
  if (body instanceof ReadableStream) return fromWeb(body);
  if (body instanceof Blob) return fromWeb(body.stream());
  if (body instanceof Response) return body.body ? fromWeb(body.body) : Buffer.alloc(0);
  return Buffer.from(JSON.stringify(body));
}

const fromWeb = (stream: WebStream): Source => new ReadableSource(Readable.fromWeb(stream));

/** Adapts a Node stream to a source. */
export class ReadableSource implements Source {
  readonly #stream: Readable;
  #cancelled = false;

  constructor(stream: Readable) {
    this.#stream = stream;
    // Without a listener, an error before `open` would end the process.
    stream.on('error', () => {});
  }

  open(sink: Sink): void {
    const stream = this.#stream;
    stream.on('data', (piece: Buffer | string) => sink.push(Buffer.isBuffer(piece) ? piece : Buffer.from(piece)));
    finished(stream, { writable: false }, (cause) => {
      if (this.#cancelled) return;
      if (cause instanceof GatewayError) sink.fail(cause);
      else if (cause) sink.fail(new GatewayError('internal_error', 'The reply broke off before its end.', { cause }));
      else sink.end();
    });
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cancel(): void {
    this.#cancelled = true;
    this.#stream.destroy();
  }
}

/** Koa's response of one attempt: headers and a body that it set through `ctx` are dropped when it fails. */
export class ResponseCapture extends EventEmitter {
  statusCode = 404;
  statusMessage = '';
  readonly headersSent = false;
  readonly finished = false;
  readonly writable = true;
  readonly #headers = new Map<string, OutgoingHttpHeader>();

  /** Validates as node:http does: once the reply leaves, it is too late for an error reply. */
  setHeader(name: string, value: OutgoingHttpHeader): this {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, String(one));
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const before = this.#headers.get(name.toLowerCase());
    return this.setHeader(name, before === undefined ? [value].flat() : [before, value].flat().map(String));
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#headers.delete(name.toLowerCase());
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  getHeaders(): OutgoingHttpHeaders {
    return Object.fromEntries(this.#headers);
  }
}
