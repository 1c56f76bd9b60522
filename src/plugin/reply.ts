import type { GatewayError } from './errors.ts';

/** Where a source's bytes go. Exactly one of `end` and `fail` is called, last. */
export interface Sink {
  /** Whole wire events, or a piece of a plain body. Synchronous; a sink that is full calls `pause()` on the source. */
  push(bytes: Buffer): void;
  end(): void;
  fail(error: GatewayError): void;
}

/**
 * The body of a reply that has not left yet. A source is paused until `open`, and is still watched while it is paused: its
 * deadline and its upstream's death reach whoever opened it. No promise per chunk.
 */
export interface Source {
  /** Starts the flow. Once only. */
  open(sink: Sink): void;
  pause(): void;
  resume(): void;
  /** The reply is not wanted any more: frees what it holds (the upstream request) at once. No sink call follows. */
  cancel(reason: GatewayError): void;
}

/**
 * A reply is a value until it leaves: after `await next()` a plugin may change headers, wrap the source, or put another
 * reply in its place (which cancels the old source). The entry writes it out when the chain is done.
 */
export interface Reply {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** A Buffer is a body that is all there. */
  body: Buffer | Source;
  /** The body is a stream of wire events: a failure after the start becomes an error event, not a cut connection. */
  readonly stream: boolean;
}

export function cancelReply(reply: Reply | undefined, reason: GatewayError): void {
  if (reply && !Buffer.isBuffer(reply.body)) reply.body.cancel(reason);
}

/** How a reply ended. `complete`: all of it left. `failed`: an error was sent in its place or after its start. */
export interface ReplyEnd {
  readonly state: 'complete' | 'failed' | 'aborted';
  readonly status: number;
  readonly bytes: number;
  readonly error: GatewayError | undefined;
}
