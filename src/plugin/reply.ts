import type { GatewayError } from './errors.ts';

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
  /** Default: by the content type. */
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
