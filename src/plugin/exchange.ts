import type Koa from 'koa';
import type { MostUsage } from '../formats/counts.ts';
import type { DefaultMaxTokens } from '../formats/request-target.ts';
import type { Format } from '../formats/format.ts';
import type { DefaultedParam, FormatName, Loss } from '../formats/conversation.ts';
import type { Signals, UpstreamFailure } from '../formats/events.ts';
import type { Cancellation } from './cancellation.ts';
import type { GatewayError } from './errors.ts';
import type { FormBody } from './form-body.ts';
import type { InboundRequest } from './inbound-request.ts';
import type { Operation } from './operation.ts';
import type { CallerLimits } from './rate-limits.ts';
import type { ReplyWithForm, Reply, ReplyEnd } from './reply.ts';
import type { RequestBody } from './request-body.ts';
import type { Secret } from './secret.ts';
import type { SemanticLookup } from './semantic.ts';
import type { Caller, GatewayConfig, Target, Timeouts, TimeoutSettings } from './settings.ts';

/** The trace of a request. */
export interface TraceContext {
  /** 32 hex digits: the caller's trace id when it sent a `traceparent`, else an id of this request's own. */
  readonly traceId: string;
}

/**
 * One request from its first byte to the end of its reply: the typed object that all plugins share. Later plugins and
 * telemetry read the values that earlier plugins set; there are no untyped `ctx.state` keys.
 */
export interface Exchange {
  readonly id: string;
  /** Letters and digits, the base of the ids in the reply. Unique, although callers may repeat the `id` of a request. */
  readonly replyId: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Hash of the settings snapshot that serves the request from start to end. */
  readonly settingsHash: string;
  /** Undefined for a path the gateway does not serve. */
  readonly operation: Operation | undefined;
  /** The client's API format. At a path that the gateway does not serve, inferred from the path or the headers. */
  readonly clientFormat?: Format | undefined;
  readonly request: InboundRequest;
  /** Telemetry replaces it when tracing is on. */
  trace: TraceContext;
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
  config: GatewayConfig | undefined;
  /** The alias that the request named as its model; the plugin `config` sets it and puts the target into the body. */
  alias?: UsedAlias | undefined;
  /** The request names its model with the suffix `[1m]`: it asks for the longer context window of the model. */
  longContext?: boolean | undefined;
  /** Value of the compliance header; undefined when absent, then the target's setting applies (default true). */
  strict: boolean | undefined;
  /** The gateway rejects a request with losses (400) instead of reporting them. */
  strictParams: boolean;
  metadata: Readonly<Record<string, string>>;
  /** The prompt that the request names, even if its texts cannot be made; the plugin `prompts` sets it. */
  prompt?: UsedPrompt | undefined;
  /** The file that this request has stored; the plugin `files` sets it. */
  upload?: { readonly id: string; readonly bytes: number } | undefined;
  /** Requested cost labels, by label name. Each target's own label rules apply later. */
  labels: Readonly<Record<string, string>>;
  /** Kept responses that the request continues, and whether its own is kept; the plugin `responses` sets it. */
  kept?: KeptTurn | undefined;
  /** Names of `labels` that come from the key's own metadata: `labels` of the body do not replace them. */
  boundLabels?: ReadonlySet<string> | undefined;
  /** Number of the caller's metadata values that the key's own replaced. */
  droppedMetadata?: number | undefined;
  /** The limits of the caller; the plugin `limit` sets them. Undefined: it has none. */
  limits?: CallerLimits | undefined;
  /** Every run of the attempt chain, in order. The last one produced the reply. */
  readonly attempts: Attempt[];
  /** Skipped targets, in order. */
  readonly skipped: SkippedTarget[];
  /** The branch that each conditional chose, in order of evaluation. */
  readonly conditions: ChosenBranch[];
  /** Random numbers used for load balancing, recorded when the request can be explained later; otherwise undefined. */
  draws: number[] | undefined;
  /** Id by which the request can be explained later. */
  explainId: string | undefined;
  /** The current reply; the winning attempt or a plugin sets it. */
  get reply(): ReplyWithForm | undefined;
  set reply(reply: Reply | undefined);
  /** The error that the client receives. */
  error: GatewayError | undefined;
  /** Registers a listener that runs once, when the reply has been sent or the client has disconnected. */
  onEnd(listener: (end: ReplyEnd) => void): void;
}

/** An alias of the catalog, as one caller may use it. It stands for a target or for a gateway config. */
export interface UsedAlias {
  /** As the request has it. */
  readonly name: string;
  /** Its name in catalog.yaml: `name`, or the wildcard that `name` fits, such as `openai/*`. */
  readonly listed: string;
  /** `@slug/model` */
  readonly target: string | undefined;
  readonly config: string | undefined;
  /** The caller's key lists the alias, and may use what it stands for through it. */
  readonly granted: boolean;
}

/** The part of a request in a conversation that the gateway keeps. */
export interface KeptTurn {
  /** The response is kept, and says so, unless the target's parameters forbid it. */
  readonly keeps: boolean;
  /** The id of the response that the request continues: `input` holds the whole conversation. */
  readonly continues: string | undefined;
  /** Number of output items that took the place of their references. */
  readonly references: number;
  /** Earlier reasoning was left out, because it has no encrypted content. */
  readonly unreadable?: boolean | undefined;
}

/** The version of a prompt that a request uses. */
export interface UsedPrompt {
  readonly id: string;
  readonly version: number;
  /** Parts that values of the caller became. Field rules apply to them as to the caller's own. */
  readonly media: readonly { readonly variable: string; readonly part: Readonly<Record<string, unknown>> }[];
}

/** A part of a request that names a stored file. */
export interface SentFile {
  readonly id: string;
  readonly bytes: number;
  readonly mime: string;
  /** Place of the part: `messages[0].content[1]`. */
  readonly param: string;
  /** inline: the bytes are in the request. uri: the provider reads the file at its address. */
  readonly way: 'inline' | 'uri';
  /** Address in Cloud Storage; undefined for a file in a local folder. */
  readonly uri: string | undefined;
}

/** The branch that a conditional chose. */
export interface ChosenBranch {
  /** Path of the conditional in the config. */
  readonly at: string;
  /** Index of the matching condition; undefined when none matched and `default` applied. */
  readonly condition: number | undefined;
  /** Path of the chosen target or group. */
  readonly to: string;
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
  /** Milliseconds; from the target, the catalog entry (once `resolved` is set) and the server. */
  readonly timeouts: Timeouts;
  /**
   * Monotonic milliseconds at which this attempt must have ended: by its total timeout or by the request's deadline.
   */
  readonly deadline: number;
  /** Cancelled with the exchange, or when the gateway abandons this attempt. */
  readonly cancellation: Cancellation;
  /** This attempt's view of the request: the caller's bytes and the edits of this target. */
  body: RequestBody;
  /** The resolved destination; `transform` sets it. */
  resolved: ResolvedTarget | undefined;
  /** The encoded request; `transform` sets it, `send` sends it. */
  outbound: Outbound | undefined;
  /** The parts of the request that name stored files, in order, as they reach the target. Undefined when there are none. */
  storedFiles?: readonly SentFile[] | undefined;
  /** Parts of the request that the target cannot express. */
  losses: Loss[];
  /** Fields that the caller omitted and the target demands, with the values that the gateway chose. */
  defaulted?: readonly DefaultedParam[] | undefined;
  /** The attempt's reserve of the caller's budgets; undefined when there are none. The plugin `budget` sets it. */
  budget?: AttemptBudget | undefined;
  /** The amount that is reserved for it, on budgets or in the ledger alone; undefined until then. It is the cost where nothing tells it. */
  reserve?: AttemptReserve | undefined;
  /** Called while a stream arrives, after each read. It may end the stream with the error that it returns. */
  watch?: ((signals: Signals) => GatewayError | undefined) | undefined;
  /** Physical tries, in order. */
  readonly tries: TryRecord[];
  /** The cache's part in this attempt; undefined when the target has no cache. */
  cache: CacheStatus | undefined;
  /** The look-up in the semantic cache; undefined when there was none. */
  semantic: SemanticLookup | undefined;
  /**
   * Set when the attempt waited for another request's reply instead of sending its own. Monotonic milliseconds; `to` is
   * undefined while it waits.
   */
  wait: { readonly from: number; to: number | undefined } | undefined;
  /** Signals of the current reply; they change until the reply ends. */
  signals: Signals | undefined;
  get reply(): ReplyWithForm | undefined;
  set reply(reply: Reply | undefined);
  error: GatewayError | undefined;
}

/** The most that an attempt can use. */
interface AttemptReserve {
  /** Nano-USD and tokens. */
  readonly amounts: { readonly usd: number; readonly tokens: number };
  /** The amount in USD is that of a price list. */
  readonly isPriced: boolean;
  /** Tokens of the prompt, from which the amounts are computed. */
  readonly prompt: number;
  /** Tokens of all answers, from which the amounts are computed. */
  readonly answers: number;
  /** Tokens of all answers at their maximum length. */
  readonly mostOutput: number;
}

/** The amounts that an attempt has reserved, or would have reserved, of the caller's budgets. */
export interface AttemptBudget {
  /** Budgets on which it counts, the outer nodes first: `team:search:month:usd`. */
  readonly counted: readonly string[];
  /** Nano-USD; undefined when no budget counts USD. */
  readonly usd: number | undefined;
  /** Undefined when no budget counts tokens. */
  readonly tokens: number | undefined;
  /** The longest answer in tokens on which the reserve rests; undefined: none is known. */
  readonly output: number | undefined;
  /** Budgets that only warn, and that it exceeds. */
  readonly warned: readonly string[];
  /** Headers in which the client's API shows how much of a budget is spent. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A target resolved for one request: catalog entry, model and address. */
export interface ResolvedTarget {
  readonly slug: string;
  readonly provider: string;
  readonly semconvName: string;
  /** The upstream's name of the model. */
  readonly model: string;
  /**
   * The model as a metric label of bounded cardinality: a name that the catalog or a config in a file lists, or that has answered recently,
   * else `__other__`.
   */
  readonly modelLabel: string;
  /** The location in a path of Google Cloud, by which prices differ: `europe-west1`, `global`. */
  readonly region?: string | undefined;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: FormatName;
  /** Why this format and not the usual one of the catalog entry. */
  readonly formatReason?: string | undefined;
  readonly host: 'vertex' | 'direct';
  /** False: the upstream rejects requests for usage on a stream. */
  readonly streamUsage?: boolean | undefined;
  /** True: the body names the model, although the format omits it at this host. */
  readonly modelInBody?: boolean | undefined;
  /** The fields beyond the API of the format's vendor that the target takes. Default: all. */
  readonly extensions?: ReadonlySet<string> | undefined;
  /** True: the chat API of the target takes free-text tools. Others get them as functions. */
  readonly customTools?: boolean | undefined;
  /**
   * True: requests may name responses that the gateway does not keep: the upstream's account is the caller's own, or the operator
   * permits it.
   */
  readonly takesUnknownIds?: boolean | undefined;
  /** Names the account of the target in signatures that only this account accepts. It has no secret. */
  readonly signatureScope?: string | undefined;
  /** The most tokens that one reply can have used. Undefined: the model is not known. */
  readonly mostUsage?: MostUsage | undefined;
  /** True: Claude on Vertex AI takes schemas of answers and strict tools. */
  readonly structuredOutputs?: boolean | undefined;
  /** True: the upstream counts no tokens, so the gateway estimates them and sends nothing. */
  readonly estimatesTokens?: boolean | undefined;
  /** True: the model may begin its answers with its chain of thought in tags. */
  readonly inlineThinking?: boolean | undefined;
  /**
   * The request itself names the destination, such as a host or a project: its outcome does not count for the target's
   * health.
   */
  readonly adHoc?: boolean | undefined;
  /** The host, and its port if it is not the scheme's, that the caller named (`custom_hosts`). Only prices of this host apply. */
  readonly customHost?: string | undefined;
  /** The upstream gets the caller's own token instead of a credential of the catalog entry. */
  readonly usesCallersToken?: boolean | undefined;
  /** Timeouts of the catalog entry. */
  readonly timeouts: TimeoutSettings;
  /** Setting of the catalog entry for requests without an answer limit, at an API that demands one. */
  readonly defaultMaxTokens?: DefaultMaxTokens | undefined;
}

/** One physical request of an attempt (a try). Times are monotonic milliseconds. */
export interface TryRecord {
  /** Index of the batch call; 0 without a batch. */
  readonly call: number;
  readonly startedAt: number;
  /** End of the wait for a free connection, when all connections to the upstream were in use. */
  waitedUntil?: number | undefined;
  /** When the request was sent on an established connection. */
  sentAt: number | undefined;
  firstByteAt: number | undefined;
  firstContentAt: number | undefined;
  endedAt: number | undefined;
  status: number | undefined;
  error: GatewayError | undefined;
  /** The request was sent again because a kept-alive connection had died unnoticed. */
  resent: boolean;
  /** The whole request has left the process, and its reply is complete. */
  delivered: boolean;
  bytesIn: number;
  /** Signals of its reply, which was lost; undefined without a reply, and for the last try, whose signals the attempt has. */
  signals?: Signals | undefined;
}

/** The encoded request of one attempt. Every try sends the same bytes. */
export interface Outbound {
  readonly path: string;
  readonly origin: string;
  /** Headers except credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
  /** The multipart form that is sent in place of `body`, which then has its text fields as JSON. */
  readonly form?: FormBody;
  readonly stream: boolean;
  /** `content-type` of the client's reply; undefined keeps the upstream's. */
  readonly contentType: string | undefined;
  /** Creates the reader for the reply of one try. */
  readonly openReader: (reply: { status: number; headers: Record<string, string> }) => ReplyReaderLike;
  readonly decodeError: Format['decodeError'];
  /**
   * The same request without signatures of earlier thoughts, for an upstream that refused one. Undefined for any other
   * failure, and for a body without signatures.
   */
  readonly withoutSignatures?: (
    failure: UpstreamFailure,
    body: Buffer | string,
  ) => { readonly body: Buffer; readonly losses: readonly Loss[] } | undefined;
  /** Set when the gateway itself knows the answer: `send` sends nothing and replies with it. */
  readonly answer?: Buffer;
  /**
   * Set when the upstream accepts fewer items per call than the request has: several calls, joined into one reply.
   * `body` is the first call's.
   */
  readonly batch?: Batch;
}

export interface Batch {
  readonly bodies: readonly (Buffer | string)[];
  /** Maximum concurrent calls. */
  readonly parallel: number;
  /** Parses the reply of one call. Throws ReplyFault. */
  readonly read: (bytes: Buffer, call: number) => unknown;
  /** Parsed replies by call index: a retry sends only the missing calls. */
  readonly replies: Map<number, unknown>;
  /** Total bytes of those replies as received. */
  bytesRead: number;
  /**
   * Joins all replies into one. The joined reply is already complete: `signals` is final and reports a failure as any
   * reader's signals do.
   */
  readonly join: () => { readonly body: Buffer | undefined; readonly signals: Signals };
}

export interface ReplyReaderLike {
  readonly signals: Signals;
  push(bytes: Buffer): Buffer | undefined;
  end(): Buffer | undefined;
}

/** Koa's context with the exchange. In the attempt chain, `attempt` is the current attempt. */
export interface GatewayContext extends Koa.ExtendableContext {
  readonly exchange: Exchange;
  readonly attempt: Attempt | undefined;
}
export interface AttemptContext extends GatewayContext {
  readonly attempt: Attempt;
}
