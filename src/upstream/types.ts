import type { Signals } from '../formats/events.ts';
import type { Cancellation, CommitMode, GatewayError, Source } from '../plugin/index.ts';
import type { UpstreamErrorContext } from './upstream-error.ts';

/** Where connections go and how many: what a pool is made for. Pools are shared by equal origins and outlive a snapshot. */
export interface Origin {
  /** `https://host[:port]`, no path. */
  readonly url: string;
  /** Plain http and special-purpose addresses are allowed: operators say so per catalog entry. */
  readonly allowInsecure: boolean;
  /** This is the cloud's metadata server, asked for the gateway's own token: see `permittedAddresses`. */
  readonly metadataServer?: boolean;
  readonly connections: number;
  /** A caller has named it: kept apart, so that no number of such hosts takes connections from the catalog's. */
  readonly chosenByCaller?: boolean;
}

/** Milliseconds. */
export interface Timeouts {
  readonly connect: number;
  readonly firstByte: number;
  readonly firstContent: number;
  readonly idle: number;
  readonly total: number;
}

/** While nothing worth keeping has arrived, so much is held back that another attempt stays possible. */
export interface Hold {
  readonly bytes: number;
  /** From the reply's headers. */
  readonly ms: number;
  /** Without content the time does not end it: `timeouts.firstContent` does, so that a silent upstream can still be left for another. */
  readonly outlastsSilence?: boolean;
}

/**
 * Turns an upstream's bytes into the client's and watches them. One per try; `PassThrough` of a format is one, translation
 * (decode, encode) is another.
 */
export interface ReplyReader {
  readonly signals: Signals;
  push(bytes: Buffer): Buffer | undefined;
  end(): Buffer | undefined;
}

export interface OutboundRequest {
  readonly origin: Origin;
  readonly method: 'POST' | 'GET';
  /** Path and query, encoded. */
  readonly path: string;
  /** Requests that wait for a connection have their turns by it: the id of the caller's key. */
  readonly caller?: string;
  /** All headers that go out, built from nothing. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string | undefined;
  /** A stream of wire events is expected; otherwise one JSON document. */
  readonly stream: boolean;
  readonly timeouts: Timeouts;
  /** Monotonic moment (`clock.now()`) the total timeout ends at: it spans the retries of a target. */
  readonly deadline: number;
  /** What ends then: the target's total timeout, or the whole request. */
  readonly deadlineOf: 'total' | 'request';
  /** How long the whole request may take, for the error that says so. */
  readonly requestMs: number;
  /** When a stream may begin to leave; `hold` is what bounds it either way. */
  readonly commit: CommitMode;
  readonly hold: Hold;
  /** Largest plain reply that is held to be read whole. */
  readonly maxReplyBytes: number;
  /**
   * Told how many more bytes of the reply are held before it may leave, and (below 0) that those of a lost one are not any more.
   * False: all replies together hold too much, and one that has content to show should begin to leave.
   */
  readonly onHold?: (bytes: number) => boolean;
  readonly cancellation: Cancellation;
  /** The reply is nothing but a content filter's stop: the failure that makes of it, where somebody else would be asked. */
  readonly onBlocked?: () => GatewayError | undefined;
  /** What errors of this request should tell, and must not. */
  readonly errors?: UpstreamErrorContext;
  /** Called when the reply's headers are there, to make the reader of its body. */
  readonly openReader: (reply: { status: number; headers: Record<string, string> }) => ReplyReader;
}

/** Moments and counts of one try, for telemetry. Monotonic milliseconds; undefined where it did not come to that. */
export interface TryTimings {
  startedAt: number;
  /** It waited in line for a free connection until then; undefined where it did not wait. */
  waitedUntil?: number | undefined;
  /** A connection stood, and the request left on it. */
  sentAt: number | undefined;
  firstByteAt: number | undefined;
  firstContentAt: number | undefined;
  endedAt: number | undefined;
  bytesIn: number;
  /** Sent a second time because a kept-alive connection had died unnoticed. */
  resent: boolean;
}

/**
 * A reply past its commit gate: a 2xx that has shown content (or is complete, or has outgrown the hold). What was held is
 * the first thing the source pushes. A failure before that is thrown as UpstreamError.
 */
export interface CommittedReply {
  readonly ok: true;
  readonly status: number;
  readonly headers: Record<string, string>;
  /** A Buffer when all of it is there already. */
  readonly body: Buffer | Source;
  readonly signals: Signals;
  readonly timings: TryTimings;
}

/** A reply that is not 2xx, read whole (bounded): its format says what it means. */
export interface RefusedReply {
  readonly ok: false;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly timings: TryTimings;
}

/** A small exchange of the gateway's own (tokens): everything in memory, bounded. */
export interface SmallRequest {
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly allowInsecure: boolean;
  /** As in Origin. */
  readonly metadataServer?: boolean;
  readonly timeoutMs: number;
}
export interface SmallReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** Media of a request that the gateway gets for a target which does not. */
export interface DownloadRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** As in Origin. */
  readonly allowInsecure: boolean;
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
  /** Bytes that would be let in now. */
  readonly room: () => number;
  /** Lets bytes in, or says that they are too many. */
  readonly admit: (bytes: number) => boolean;
}
export interface Download {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a 200; of any other status it is not read. */
  readonly body: Buffer;
}

export interface Upstream {
  /** Throws UpstreamError (connection, timeouts, a broken or failed reply before commit) and the cancellation's reason. */
  send(request: OutboundRequest, timings?: TryTimings): Promise<CommittedReply | RefusedReply>;
  exchange(request: SmallRequest): Promise<SmallReply>;
  /** Throws UpstreamError, and the cancellation's reason. */
  download(request: DownloadRequest): Promise<Download>;
  /** Connections and requests under way, per origin URL: for tests, drain and metrics. Downloads, whose hosts callers name, are not told. */
  stats(): readonly {
    readonly origin: string;
    readonly running: number;
    readonly connected: number;
    readonly queued: number;
  }[];
  /** Connections to upstreams that nobody asks for any more are let go, in time; all others stay as they are. */
  settingsChanged(): void;
  close(): Promise<void>;
}
