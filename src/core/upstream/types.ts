import type { Signals } from '../../formats/events.ts';
import type { Secret, Cancellation, GatewayError, Source } from '../../plugin/index.ts';
import type { FormBody } from '../kernel/forms/form-body.ts';
import type { CommitMode, ReplyReaderLike, Timeouts, TryRecord } from '../kernel/index.ts';
import type { UpstreamErrorContext } from './upstream-error.ts';

/** The destination and number of connections of a pool. Equal origins share a pool, which outlives a snapshot. */
export interface Origin {
  /** `https://host[:port]`, no path. */
  readonly url: string;
  /** Plain http and special-purpose addresses are allowed, as operators set per catalog entry. */
  readonly allowInsecure: boolean;
  /** The cloud's metadata server, for the gateway's own token: see `permittedAddresses`. */
  readonly metadataServer?: boolean;
  readonly connections: number;
  /** A caller has named it. Kept in a separate directory, so that such hosts never displace the catalog's connections. */
  readonly chosenByCaller?: boolean;
}

/** A proxy of the network that the gateway is in. */
export interface ProxyServer {
  /** `http://host:port` or `https://host:port`. */
  readonly url: string;
  /** `USER:PASSWORD` */
  readonly credentials: Secret | undefined;
}

export interface OutboundWay {
  /** By the scheme of the upstream. */
  readonly proxies: { readonly https?: ProxyServer | undefined; readonly http?: ProxyServer | undefined };
  /** Hosts that are reached without a proxy. */
  readonly noProxy: readonly string[];
  /** Certificate authorities besides the public ones, PEM. */
  readonly ca: readonly string[];
}

/** The limits up to which a reply without content is held back, so that another attempt stays possible. */
export interface Hold {
  readonly bytes: number;
  /** Time from the reply's headers. */
  readonly ms: number;
  /** Without content `ms` does not end the hold, but `timeouts.firstContent` does, so that a silent upstream can still fall through. */
  readonly outlastsSilence?: boolean;
  /** The hold ends with output (`Signals.output`) and not with any content. `ms` does not end it. */
  readonly untilOutput?: boolean;
}

export interface OutboundRequest {
  readonly origin: Origin;
  readonly method: 'POST' | 'GET';
  /** Path and query, encoded. */
  readonly path: string;
  /** The id of the caller's key, by which waiting requests take turns. */
  readonly caller?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string | FormBody | undefined;
  /** A stream of wire events is expected; otherwise one JSON document. */
  readonly stream: boolean;
  readonly timeouts: Timeouts;
  /** Monotonic time (`clock.now()`) at which the total timeout ends, which spans the retries of a target. */
  readonly deadline: number;
  /** The owner of the deadline: the target's total timeout, or the whole request. */
  readonly deadlineOf: 'total' | 'request';
  /** Time limit of the whole request, for its error message. */
  readonly requestMs: number;
  /** When a stream may start to be sent; `hold` limits it in either mode. */
  readonly commit: CommitMode;
  readonly hold: Hold;
  /** Largest plain reply that is held in memory to be translated. */
  readonly maxReplyBytes: number;
  /** The change in the bytes held. False: all replies hold too much, and one with content should commit. */
  onHold?(bytes: number): boolean;
  readonly cancellation: Cancellation;
  /** Called after each read of a stream. The error that it returns ends the reply. */
  watch?(signals: Signals): GatewayError | undefined;
  /** Called before a reply commits. Returns a failure if its ending counts as one and another target can be tried. */
  judge?(signals: Signals): GatewayError | undefined;
  /** Context of this request's errors, such as the entry's name and the secrets to remove. */
  readonly errors?: UpstreamErrorContext;
  /** Called after the reply's headers to create the reader of its body. */
  readonly openReader: (reply: { status: number; headers: Record<string, string> }) => ReplyReaderLike;
}

/** Times and counts of one try, for telemetry. Monotonic milliseconds; undefined for a phase that was not reached. */
export type TryTimings = Omit<TryRecord, 'call' | 'startedAt' | 'status' | 'error' | 'signals'> & { startedAt: number };

/** A 2xx with content, complete, or larger than the hold. An earlier failure is thrown as UpstreamError. */
export interface CommittedReply {
  readonly ok: true;
  readonly status: number;
  readonly headers: Record<string, string>;
  /** A Buffer when the body is already complete. */
  readonly body: Buffer | Source;
  readonly signals: Signals;
  readonly timings: TryTimings;
}

/** A reply other than 2xx, with its (bounded) body, which its format decodes. */
export interface RefusedReply {
  readonly ok: false;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly timings: TryTimings;
}

/** A small exchange of the gateway itself (tokens, pieces of stored files), held in memory and bounded. */
export interface SmallRequest {
  readonly url: string;
  readonly method: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A body that is no text, in place of `body`. */
  readonly bodyBytes?: Buffer;
  /** The reply's body as bytes of at most this number, instead of as text of at most 64 KiB. */
  readonly maxBytes?: number;
  /** Connections to the host. Default: a few, which is enough for tokens. */
  readonly connections?: number;
  readonly allowInsecure: boolean;
  /** As in Origin. */
  readonly metadataServer?: boolean;
  readonly timeoutMs: number;
  readonly cancellation?: Cancellation;
}
export interface SmallReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  /** Set instead of `text` for a request with `maxBytes`. */
  readonly bytes?: Buffer;
}

/** Media of a request that the gateway fetches for a target that does not fetch media itself. */
export interface DownloadRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** As in Origin. */
  readonly allowInsecure: boolean;
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
  /** Number of bytes that would be admitted now. */
  readonly room: () => number;
  /** Admits bytes; false if they exceed the limit. */
  readonly admit: (bytes: number) => boolean;
}
export interface Download {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a 200; empty for any other status. */
  readonly body: Buffer;
}

export interface Upstream {
  /** Throws UpstreamError (connection, timeouts, a broken or failed reply before commit) and the cancellation's reason. */
  send(request: OutboundRequest, timings?: TryTimings): Promise<CommittedReply | RefusedReply>;
  exchange(request: SmallRequest): Promise<SmallReply>;
  /** Throws UpstreamError, and the cancellation's reason. */
  download(request: DownloadRequest): Promise<Download>;
  /** Connections and running requests per origin URL, for tests, drain and metrics. Excludes downloads, whose hosts callers name. */
  stats(): readonly {
    readonly origin: string;
    readonly running: number;
    readonly connected: number;
    readonly queued: number;
  }[];
  /** Connections that are opened from now on leave this way. */
  apply(outbound: OutboundWay): void;
  /** Closes, after a while, connections to upstreams that are no longer used; all others stay open. */
  settingsChanged(): void;
  close(): Promise<void>;
}
