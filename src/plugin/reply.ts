import type { GatewayError } from './errors.ts';
import type { ClientError } from '../formats/client-error.ts';
import type { Format } from '../formats/format.ts';

/** The receiver of a source's bytes. Exactly one of `end` and `fail` is called, last. */
export interface Sink {
  /** Takes whole wire events, or a piece of a plain body. Synchronous; a full sink calls `pause()` on the source. */
  push(bytes: Buffer): void;
  end(): void;
  fail(error: GatewayError): void;
}

/**
 * The body of a reply that has not been sent yet. A source is paused until `open`. While paused it is still watched:
 * its deadline and a broken upstream connection reach the sink that opened it. It makes no promise per chunk.
 */
export interface Source {
  /** Starts the flow. May be called once. */
  open(sink: Sink): void;
  pause(): void;
  resume(): void;
  /** Discards the reply: releases its resources (the upstream request) at once. No sink call follows. */
  cancel(reason: GatewayError): void;
}

/**
 * A reply is a value until it is sent: after `await next()` a plugin may change its headers, wrap the source or replace
 * the reply (which cancels the old source). The entry chain writes it when the chain is done.
 */
export interface Reply {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** A Buffer is a complete body. */
  body: Buffer | Source;
  /** The body is an event stream: a failure after its start becomes an error event instead of a closed connection. */
  readonly stream: boolean;
  /** Default: as `replyForm` reads it from the content type. */
  readonly form?: ReplyForm;
}

/**
 * The form of a body, in a Buffer as in a source. json: one JSON value. sse: server-sent events. json-array: the
 * events of a stream as the items of one JSON array, as Gemini answers without `alt=sse`. bytes: anything else, such as audio.
 */
export type ReplyForm = 'json' | 'sse' | 'json-array' | 'bytes';

/** A reply that an exchange or an attempt holds. */
export interface ReplyWithForm extends Reply {
  readonly form: ReplyForm;
}

const EVENTS = /^\s*text\/event-stream\s*(?:;|$)/i;
const JSON_TYPE = /^[^;]*[/+]json\s*(?:;|$)/i;

export function replyForm({ headers, stream }: Pick<Reply, 'headers' | 'stream'>): ReplyForm {
  const type = headers['content-type'] ?? '';
  if (EVENTS.test(type)) return 'sse';
  if (!JSON_TYPE.test(type)) return 'bytes';
  return stream ? 'json-array' : 'json';
}

/** Completes a reply in place: who made it may keep and change it. */
export function heldReply(reply: Reply): ReplyWithForm {
  // A plugin may have made a reply without headers, which is reported later, or one that is frozen.
  if (reply.form === undefined) Reflect.set(reply, 'form', replyForm({ ...reply, headers: reply.headers ?? {} }));
  return reply as ReplyWithForm;
}

export function cancelReply(reply: Reply | undefined, reason: GatewayError): void {
  if (reply && !Buffer.isBuffer(reply.body)) reply.body.cancel(reason);
}

/**
 * How a reply ended. `complete`: sent whole. `failed`: an error was sent in its place or after its start. `aborted`:
 * the client disconnected.
 */
export interface ReplyEnd {
  readonly state: 'complete' | 'failed' | 'aborted';
  readonly status: number;
  readonly bytes: number;
  readonly error: GatewayError | undefined;
}

/** The fields of an error that the client sees. */
export function toClientError(error: GatewayError, requestId: string, replyId?: string): ClientError {
  const { clientStatus: status, message, type, param, limit, retryAfterMs } = error;
  const code = error.upstreamCode ?? error.code;
  const client = {
    status,
    message,
    type,
    code,
    param,
    requestId,
    ...(replyId !== undefined && { replyId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(error.upstreamDetails && { upstreamDetails: error.upstreamDetails }),
  };
  return limit ? { ...client, limit: { counts: limit.limit, retryAfterMs: retryAfterMs ?? 0 } } : client;
}

/**
 * The reply to a failed request, in the client's format. The format maps the status: an overload is 503 to one API and
 * 529 to another.
 */
export function errorReply(error: GatewayError, format: Format, requestId: string): Reply {
  const { status, body: encoded } = format.encodeError(toClientError(error, requestId));
  const body = Buffer.from(JSON.stringify(encoded));
  const headers = { 'content-type': format.contentType.body, 'content-length': String(body.length) };
  return { status, headers, body, stream: false };
}
