import type Koa from 'koa';
import type { Format } from '../formats/format.ts';
import type { FormatName, Loss } from '../formats/conversation.ts';
import type { Signals } from '../formats/events.ts';
import type { Cancellation } from './cancellation.ts';
import type { GatewayError } from './errors.ts';
import type { InboundRequest } from './inbound-request.ts';
import type { Operation } from './operation.ts';
import type { Reply, ReplyEnd } from './reply.ts';
import type { RequestBody } from './request-body.ts';
import type { Secret } from './secret.ts';
import type { Caller, GatewayConfig, Target, TimeoutSettings } from './settings.ts';

/** Where a trace stands; undefined parts where tracing is off. */
export interface TraceContext {
  /** 32 hex digits: the caller's when it sent a `traceparent`, else this request's own. */
  readonly traceId: string;
}

/**
 * One request from its first byte to the end of its reply: the typed object all plugins share. What a plugin sets here, later
 * plugins and telemetry read; there are no untyped `ctx.state` keys.
 */
export interface Exchange {
  readonly id: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Hash of the settings it runs on, from its beginning to its end. */
  readonly settingsHash: string;
  /** Undefined for a path the gateway does not serve. */
  readonly operation: Operation | undefined;
  /** What the client speaks; at a path that is not served, what its path or its headers tell. */
  readonly clientFormat?: Format | undefined;
  readonly request: InboundRequest;
  /** Replaced by telemetry when tracing is on. */
  trace: TraceContext;
  /** Monotonic milliseconds: when the whole request must have ended. The server's, the gateway config's, or what the caller asked for. */
  deadline: number;
  /** Cancelled when the client leaves. */
  readonly cancellation: Cancellation;
  caller: Caller | undefined;
  /** What `Authorization` held when it was not a gateway key: the caller's own upstream credential. */
  upstreamToken: Secret | undefined;
  config: GatewayConfig | undefined;
  /** What the compliance header says, undefined when it is absent: then the target's setting holds, default true. */
  strict: boolean | undefined;
  /** Losses are refused with a 400 instead of reported. */
  strictParams: boolean;
  metadata: Readonly<Record<string, string>>;
  /** Metadata that should become cost labels where the target has them, by the label's name; not fitted to any target's rules yet. */
  labels: Readonly<Record<string, string>>;
  /** Every run of the attempt chain, in order. The last one made the reply. */
  readonly attempts: Attempt[];
  /** Targets that were left out, in order. */
  readonly skipped: SkippedTarget[];
  /** What conditionals made of the request, in the order they were asked. */
  readonly conditions: ChosenBranch[];
  /** The random numbers its route was drawn by, noted where the request can be explained afterwards; undefined elsewhere. */
  draws: number[] | undefined;
  /** Under which it can be explained afterwards. */
  explainId: string | undefined;
  /** The reply so far; set by the winning attempt or by a plugin. */
  reply: Reply | undefined;
  /** The failure the client is told of. */
  error: GatewayError | undefined;
  /** Called once, when the reply has left (or the client has): how it ended. */
  onEnd(listener: (end: ReplyEnd) => void): void;
}

/** Where a conditional sent the request. */
export interface ChosenBranch {
  /** Path of the conditional in the config. */
  readonly at: string;
  /** Index of the condition that held; undefined: none did, and `default` was taken. */
  readonly condition: number | undefined;
  /** Path of the target, or group, it led to. */
  readonly to: string;
}

/** A target of the config that was not tried. */
export interface SkippedTarget {
  readonly target: Target;
  /** circuit_open: it keeps failing. same_model, context_window: nothing there is better than where the request has just failed. */
  readonly reason: 'circuit_open' | 'same_model' | 'context_window';
  /** Attempts that were made before. */
  readonly after: number;
}

/**
 * Why a target was tried. only: there is no choice. first: the first of a fallback. weight, sticky: drawn by a load balance.
 * condition: the query of a conditional held; otherwise: none did. fallback: those before it failed or were left out. probe: it keeps
 * failing, and this request finds out whether it still does. last_resort: nobody else takes the request, and of those left out
 * this one's time ends soonest.
 */
export type ChoiceReason =
  | 'only'
  | 'first'
  | 'weight'
  | 'sticky'
  | 'condition'
  | 'otherwise'
  | 'fallback'
  | 'probe'
  | 'last_resort';

/** How a target came to be tried. */
export interface Choice {
  readonly reason: ChoiceReason;
  /** After this failure another target would be tried, as things stand now. Pure, and asked as often as somebody likes. */
  readonly fallsThrough: (error: GatewayError) => boolean;
}

/**
 * hit: answered from the cache. miss: asked upstream. shared: waited for the same request, which was in the air. refresh: the
 * caller wanted a new answer. bypass: this request cannot be answered from a cache.
 */
export type CacheStatus = 'hit' | 'shared' | 'miss' | 'refresh' | 'bypass';

/**
 * One run of the attempt chain. What is set here is lost with a lost attempt; the winner's reply and headers become the
 * exchange's.
 */
export interface Attempt {
  /** Counts from 0 over the exchange. */
  readonly number: number;
  readonly target: Target;
  /** How it came to be tried. */
  readonly choice: Choice;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Milliseconds; from the target, the catalog entry (once `resolved`), the server. */
  readonly timeouts: Required<TimeoutSettings>;
  /** Monotonic milliseconds: when this attempt must have ended, by its total timeout or by the whole request's deadline. */
  readonly deadline: number;
  /** Cancelled with the exchange, or when this attempt is given up. */
  readonly cancellation: Cancellation;
  /** This attempt's view of the request: the caller's bytes and the edits of this target. */
  body: RequestBody;
  /** Where it goes; set by `transform`. */
  resolved: ResolvedTarget | undefined;
  /** What goes out; set by `transform`, sent by `send`. */
  outbound: Outbound | undefined;
  /** What the target could not express. */
  losses: Loss[];
  /** Physical tries, in order. */
  readonly tries: TryRecord[];
  /** What the cache did for this attempt; undefined where none is configured. */
  cache: CacheStatus | undefined;
  /** It waited for another request's answer instead of asking. Monotonic milliseconds; `to` is undefined while it waits. */
  wait: { readonly from: number; to: number | undefined } | undefined;
  /** Signals of the reply that is flowing; live until the end. */
  signals: Signals | undefined;
  reply: Reply | undefined;
  error: GatewayError | undefined;
}

/** A target made concrete for one request: catalog entry, model and place. */
export interface ResolvedTarget {
  readonly slug: string;
  readonly provider: string;
  readonly semconvName: string;
  /** Model the upstream knows. */
  readonly model: string;
  /** The same, bounded for metrics: a name that the catalog lists or that has answered lately, else `__other__`. */
  readonly modelLabel: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: FormatName;
  readonly host: 'vertex' | 'direct';
  /** False: the server refuses to be asked for usage on a stream. */
  readonly streamUsage?: boolean | undefined;
  /** True: the body names the model, although the format does not at this host. */
  readonly modelInBody?: boolean | undefined;
  /** The request itself names the place, such as a host or a project: what becomes of it there says nothing of the target. */
  readonly adHoc?: boolean | undefined;
  /** The upstream is sent the caller's own token, not a credential of the catalog entry. */
  readonly usesCallersToken?: boolean | undefined;
  /** The catalog entry's own. */
  readonly timeouts: TimeoutSettings;
}

/** One physical try of an attempt. Times are monotonic milliseconds. */
export interface TryRecord {
  /** Which call of a batch it is a try of; 0 where there is one. */
  readonly call: number;
  readonly startedAt: number;
  /** Until then it waited in line, because all connections to its upstream were in use. */
  waitedUntil?: number | undefined;
  /** A connection stood, and the request left on it. */
  sentAt: number | undefined;
  firstByteAt: number | undefined;
  firstContentAt: number | undefined;
  endedAt: number | undefined;
  status: number | undefined;
  error: GatewayError | undefined;
  /** Sent again because a kept-alive connection had died unnoticed. */
  resent: boolean;
  bytesIn: number;
}

/** The encoded request of one attempt: the same bytes for every try. */
export interface Outbound {
  readonly path: string;
  readonly origin: string;
  /** Headers that are no credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
  readonly stream: boolean;
  /** `content-type` of the reply to the client; undefined keeps the upstream's. */
  readonly contentType: string | undefined;
  /** Makes the reader of one try's reply. */
  readonly openReader: (reply: { status: number; headers: Record<string, string> }) => ReplyReaderLike;
  readonly decodeError: Format['decodeError'];
  /** The place takes less at once than was asked for: several calls, and one reply made of theirs. `body` is the first's. */
  readonly batch?: Batch;
}

export interface Batch {
  readonly bodies: readonly (Buffer | string)[];
  /** So many at once. */
  readonly parallel: number;
  /** Parses the reply of one call. Throws ReplyFault. */
  readonly read: (bytes: Buffer, call: number) => unknown;
  /** What has been read, by the number of its call: a retry asks for the missing ones only. */
  readonly replies: Map<number, unknown>;
  /** Bytes of those replies as they came. */
  bytesRead: number;
  /** One reply of all. Its end has been read: `signals` is complete, and tells of a failure as any reader's does. */
  readonly join: () => { readonly body: Buffer | undefined; readonly signals: Signals };
}

export interface ReplyReaderLike {
  readonly signals: Signals;
  push(bytes: Buffer): Buffer | undefined;
  end(): Buffer | undefined;
}

/** Koa's context with the exchange on it. In the attempt chain `attempt` is this run's own. */
export interface GatewayContext extends Koa.ExtendableContext {
  readonly exchange: Exchange;
  readonly attempt: Attempt | undefined;
}
export interface AttemptContext extends GatewayContext {
  readonly attempt: Attempt;
}
