import type Koa from 'koa';
import type { FormatName } from '../formats/conversation.ts';
import type { Signals } from '../formats/events.ts';
import type { Cancellation } from './cancellation.ts';
import type { Caller, GatewayConfig, Target } from './config.ts';
import type { GatewayError } from './errors.ts';
import type { ReplyWithForm, Reply, ReplyEnd } from './reply.ts';
import type { InboundRequest, Operation, RequestBody } from './request.ts';
import type { Secret } from './secret.ts';

/**
 * One request from its first byte to the end of its reply: the typed object that all plugins share. Later plugins and
 * telemetry read the values that earlier plugins set; there are no untyped `ctx.state` keys.
 */
export interface Exchange {
  readonly id: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Undefined for a path the gateway does not serve. */
  readonly operation: Operation | undefined;
  readonly request: InboundRequest;
  /** `traceId`: 32 hex digits, the caller's trace id when it sent a `traceparent`, else an id of this request's own. */
  readonly trace: { readonly traceId: string };
  /**
   * Monotonic milliseconds at which the whole request must have ended: by the server's settings, the gateway config or
   * the caller's header.
   */
  deadline: number;
  /** Cancelled when the client leaves. */
  readonly cancellation: Cancellation;
  caller: Caller | undefined;
  /** The caller's own upstream credential: the token in `Authorization` when it is not a gateway key. */
  upstreamToken: Secret | undefined;
  readonly config: GatewayConfig | undefined;
  /** Value of the compliance header; undefined when absent, then the target's setting applies (default true). */
  strict: boolean | undefined;
  metadata: Readonly<Record<string, string>>;
  /** Requested cost labels, by label name. Each target's own label rules apply later. */
  labels: Readonly<Record<string, string>>;
  /** Every run of the attempt chain, in order. The last one produced the reply. */
  readonly attempts: readonly Attempt[];
  /** Skipped targets, in order. */
  readonly skipped: SkippedTarget[];
  /** The current reply; the winning attempt or a plugin sets it. */
  get reply(): ReplyWithForm | undefined;
  set reply(reply: Reply | undefined);
  /** The error that the client receives. */
  error: GatewayError | undefined;
  /** Registers a listener that runs once, when the reply has been sent or the client has disconnected. */
  onEnd(listener: (end: ReplyEnd) => void): void;
}

/** A target of the config that the request skipped. */
export interface SkippedTarget {
  readonly target: Target;
  /**
   * circuit_open: its circuit breaker is open. same_model, context_window: the target would fail as the failed one did,
   * because it has the same model or no larger context window.
   */
  readonly reason: 'circuit_open' | 'same_model' | 'context_window';
  /** Number of attempts made before. */
  readonly after: number;
}

/**
 * Why a target was selected. only: the sole target. first: the first of a fallback. weight, sticky: drawn by a load
 * balance. condition: a conditional's query matched; otherwise: no query matched. fallback: the targets before it
 * failed or were skipped. probe: its breaker is half-open, and this request tests the target. last_resort: no other
 * target admits the request, and among the skipped targets this one's cooldown ends first.
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

/** Why a target was selected, and what follows its failure. */
export interface Choice {
  readonly reason: ChoiceReason;
  /**
   * Whether this failure would fall through to another target in the current state. Has no side effects; may be called
   * any number of times.
   */
  readonly fallsThrough: (error: GatewayError) => boolean;
}

/**
 * hit: answered from the cache. semantic_hit: answered with the reply to a request whose last user text is near. miss: sent to the upstream. shared: waited for an identical request in flight. refresh:
 * the caller demanded a new answer. bypass: the cache cannot serve this request.
 */
export type CacheStatus = 'hit' | 'semantic_hit' | 'shared' | 'miss' | 'refresh' | 'bypass';

/**
 * One run of the attempt chain. A failed attempt's values are discarded; the winner's reply and headers become the
 * exchange's.
 */
export interface Attempt {
  /** Counts from 0 over the exchange. */
  readonly number: number;
  readonly target: Target;
  /** Why its target was selected. */
  readonly choice: Choice;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /**
   * Monotonic milliseconds at which this attempt must have ended: by its total timeout or by the request's deadline.
   */
  readonly deadline: number;
  /** Cancelled with the exchange, or when the gateway abandons this attempt. */
  readonly cancellation: Cancellation;
  /** This attempt's view of the request: the caller's bytes and the edits of this target. */
  body: RequestBody;
  /** The resolved destination; `transform` sets it. */
  readonly resolved: ResolvedTarget | undefined;
  /** The encoded request; `transform` sets it, `send` sends it. */
  outbound: Outbound | undefined;
  /** Physical tries, in order. */
  readonly tries: readonly TryRecord[];
  /** The cache's part in this attempt; undefined when the target has no cache. */
  cache: CacheStatus | undefined;
  /** Usage, finish reason and model of the current reply; they change until the reply ends. */
  readonly signals: Readonly<Pick<Signals, 'usage' | 'finish' | 'model' | 'ended'>> | undefined;
  get reply(): ReplyWithForm | undefined;
  set reply(reply: Reply | undefined);
  error: GatewayError | undefined;
}

/** A target resolved for one request: catalog entry, model and address. */
export interface ResolvedTarget {
  /** Slug of the catalog entry. */
  readonly slug: string;
  readonly provider: string;
  /** The upstream's name of the model. */
  readonly model: string;
  /**
   * The model as a metric label of bounded cardinality: a name that the catalog or a config in a file lists, or that has answered recently,
   * else `__other__`.
   */
  readonly modelLabel: string;
  readonly origin: string;
  readonly path: string;
  readonly format: FormatName;
}

/** One physical request of an attempt (a try). Times are monotonic milliseconds. */
export interface TryRecord {
  /** Index of the batch call; 0 without a batch. */
  readonly call: number;
  readonly startedAt: number;
  /** When the request was sent on an established connection. */
  sentAt: number | undefined;
  firstByteAt: number | undefined;
  firstContentAt: number | undefined;
  endedAt: number | undefined;
  status: number | undefined;
  error: GatewayError | undefined;
}

/** The encoded request of one attempt. Every try sends the same bytes. */
export interface Outbound {
  readonly path: string;
  readonly origin: string;
  /** Headers except credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
  readonly stream: boolean;
  /** `content-type` of the client's reply; undefined keeps the upstream's. */
  readonly contentType: string | undefined;
}

/** Koa's context with the exchange. In the attempt chain, `attempt` is the current attempt. */
export interface GatewayContext extends Koa.ExtendableContext {
  readonly exchange: Exchange;
  readonly attempt: Attempt | undefined;
}
export interface AttemptContext extends GatewayContext {
  readonly attempt: Attempt;
}
