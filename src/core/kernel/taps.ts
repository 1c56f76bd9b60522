import type { Reply } from '../../plugin/reply.ts';
import type { Attempt, TryRecord } from './attempt.ts';
import type { Exchange } from './exchange.ts';
import type { FormBody } from './forms/form-body.ts';
import type { ReplyReaderLike } from './outbound.ts';

/** A call of an upstream, as it leaves. */
export interface TappedCall {
  readonly origin: { readonly url: string };
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** With credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string | FormBody | undefined;
}

interface ReplyHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sees the reply to one call. Where neither is called, the call has failed without a reply: its `TryRecord` says why. */
export interface CallTap {
  /** @returns the reader in place of `reader`: it gets the bytes as they arrive, decoded */
  reading(reply: ReplyHead, reader: ReplyReaderLike): ReplyReaderLike;
  /** A refusal has arrived whole. */
  refused(reply: ReplyHead & { readonly text: string }): void;
}

/**
 * Functions that see the bytes of requests and replies. The object lives as long as the process, and an add-on sets its members while a
 * capture runs. Without them a request calls nothing and copies nothing.
 */
export interface Taps {
  /** A call is about to be sent. Must not throw. */
  calling?: ((exchange: Exchange, attempt: Attempt, call: TappedCall, record: TryRecord) => CallTap) | undefined;
  /** The reply is about to be sent. Must not throw. @returns the reply to send, whose bytes are those of `reply` */
  replying?: ((exchange: Exchange, reply: Reply) => Reply) | undefined;
}
