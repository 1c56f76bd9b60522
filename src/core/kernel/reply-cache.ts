import type { DefaultedParam, Loss } from '../../formats/conversation.ts';
import type { Usage } from '../../formats/events.ts';
import type { Reply } from '../../plugin/reply.ts';
import type { Attempt } from './attempt.ts';
import type { Exchange } from './exchange.ts';
import type { ReplyEnding } from './failures.ts';
import type { MaybePromise } from './responses.ts';

/** A complete 2xx reply in the cache. */
export interface CachedReply {
  readonly status: number;
  /** The complete body or stream, in the client's format. */
  readonly bytes: Buffer;
  readonly stream: boolean;
  /** The stream holds a usage chunk, because its client requested one. */
  readonly includeUsage: boolean;
  /** Usage that the upstream reported; needed for a stream without a usage chunk. */
  readonly usage: Usage | undefined;
  /** Value of `content-type`, the only header kept: all others belong to that one call. */
  readonly contentType: string;
  readonly losses: readonly Loss[];
  readonly defaulted?: readonly DefaultedParam[];
  /** Configs with other rules may share the entry. */
  readonly ending?: ReplyEnding;
  /** Monotonic milliseconds. */
  readonly storedAt: number;
}

/** Cached replies; outlives snapshots, bounded in bytes. */
export interface ReplyCache {
  /** Larger replies are not stored. */
  readonly maxEntryBytes: number;
  /** Returns undefined when there is no entry or the entry has expired. */
  find(key: string): CachedReply | undefined;
  /** Looks among the replies of other gateways, for 20 ms at most. Undefined: they share none. */
  readonly findFar: ((key: string) => MaybePromise<CachedReply | undefined>) | undefined;
  /** `find` without counting as a use of the entry. */
  peek(key: string): CachedReply | undefined;
  store(key: string, reply: CachedReply, maxAgeMs: number): void;
  /** The stored reply as a body or a stream, as this request needs it. Undefined: it cannot be expressed. */
  render(cached: CachedReply, exchange: Exchange, attempt: Attempt): Reply | undefined;
  /** Values outside the body on which a reply depends, in a list of fixed length; undefined: not sent. */
  spoken(exchange: Exchange): readonly (string | undefined)[];
}
