import type { Format } from '../formats/format.ts';
import type { Loss } from '../formats/conversation.ts';
import type { Usage } from '../formats/events.ts';
import type { Steps } from '../formats/steps.ts';
import type { GatewayError } from './errors.ts';
import type { Attempt, Choice, Exchange, GatewayContext, Outbound, ResolvedTarget } from './exchange.ts';
import type { JsonLimits } from './json-scan.ts';
import type { Reply, ReplyEnd } from './reply.ts';
import type { RequestBody } from './request-body.ts';
import type { Caller, GatewayConfig, Target } from './settings.ts';
import type { Turns } from './turns.ts';

/** Who may call, by key. */
export interface KeyRing {
  /** Constant-time in the key. Undefined: not a gateway key. Throws GatewayError for one that is expired or out of its network. */
  find(key: string, remoteAddress: string): Caller | undefined;
}

/** The gateway configs of the snapshot and the chains compiled for them. */
export interface ConfigDirectory {
  get(id: string): GatewayConfig | undefined;
  /**
   * A config that came with the request, as JSON. The same text gives the same config. Throws GatewayError `invalid_config`.
   * @param header full name of the header it came in
   */
  inline(json: string, header: string): GatewayConfig;
  readonly ids: readonly string[];
  /** Config of the server for requests that name none. */
  readonly fallbackId: string | undefined;
  /** For requests without any config: one target, told by the request itself. */
  readonly direct: GatewayConfig;
  /** Runs the request chain of `config`. */
  run(config: GatewayConfig, ctx: GatewayContext): Promise<void>;
}

/** Runs the attempt chain for a target in an Attempt of its own. Throws what the attempt throws. */
export interface AttemptRunner {
  /** @param choice why this target, and what would happen after a failure; it is recorded, and the attempt's plugins ask it */
  run(ctx: GatewayContext, target: Target, choice: Choice): Promise<void>;
}

/**
 * How well a target has done of late; outlives snapshots. A breaker that is open leaves its target alone; when its time is over
 * it lets one request through at a time, and closes with the first that succeeds.
 */
export interface TargetHealth {
  readonly state: 'closed' | 'open' | 'half_open';
  /** Monotonic milliseconds: from when it may be tried again; meaningful while it is open. */
  readonly retryAt: number;
  /** The target may be tried now. Pure. */
  readonly admits: boolean;
  /** A request goes there, whether `admits` or not; what became of it must be told to the result, once. */
  begin(): HealthTrial;
}

/** One request at a target. The first word counts, and a `failed` after `succeeded`: an answer that had begun well broke. */
export interface HealthTrial {
  /** It was sent to find out whether the target is well again. */
  readonly probe: boolean;
  succeeded(): void;
  /** Whether that counts against the target is for its settings to say. */
  failed(error: GatewayError): void;
  /** It ended without saying anything of the target. */
  abandoned(): void;
}

/** The health of targets, by what defines them: the config, the place in it, the model and the breaker's settings. */
export interface HealthDirectory {
  /**
   * Never fails: a target that no request has reached yet is well.
   * @param exchange the request that would go there. With it, the health also counts what the upstream answered to the token its
   * caller brought; without it, such answers count for no target.
   */
  of(config: GatewayConfig, target: Target, exchange?: Exchange): TargetHealth;
}

/** The catalog, asked with a request in hand. */
export interface TargetResolver {
  /** Throws GatewayError: unknown or ambiguous provider, not allowed, unusable model. */
  resolve(exchange: Exchange, target: Target, model: string, stream: boolean): ResolvedTarget;
}

/** A model a caller may ask for. */
export interface ListedModel {
  /** What requests write as their `model`: `@slug/model`, or a bare name where the place came with the request. */
  readonly id: string;
  /** Without its place. */
  readonly name: string;
  /** `vertex-ai` */
  readonly provider: string;
}

/** The catalog as one caller may use it. */
export interface ModelDirectory {
  /** What is known by name, in the order of the ids. */
  list(exchange: Exchange): readonly ListedModel[];
  /**
   * A model that this request's caller could ask for, known by name or not. Undefined: not there, or not for this caller, which
   * is not told apart. Throws GatewayError for headers that cannot be read.
   */
  find(exchange: Exchange, id: string): ListedModel | undefined;
}

/** Sends an attempt's encoded request once: authorises, connects, waits for the commit gate. */
export interface Sender {
  send(exchange: Exchange, attempt: Attempt): Promise<Reply>;
}

/** Client format → conversation → upstream format, and the way back. */
export interface Translator {
  /**
   * Parses and checks the body where `prepare` is going to read all of it; else does nothing. Throws GatewayError. `prepare` does the
   * same for a body that was not checked before.
   */
  check(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Steps<void>;
  /** Throws GatewayError for what the target's format must refuse. */
  prepare(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Prepared;
  /** The same, for a large body: each step blocks for a part of the time. */
  prepareInSteps(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Steps<Prepared>;
}
export interface Prepared {
  readonly outbound: Outbound;
  readonly losses: readonly Loss[];
}

/** Gets the media that a request names by its address, for a target that takes them only as data. */
export interface MediaInliner {
  /**
   * The attempt's body with the media in it; undefined where none is missing. Throws GatewayError that names the part: for what
   * the config does not allow, and for what cannot be had.
   */
  inline(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Promise<RequestBody> | undefined;
}

/** A complete 2xx reply, kept. */
export interface CachedReply {
  readonly status: number;
  /** In the client's format; the whole of a body or of a stream. */
  readonly bytes: Buffer;
  readonly stream: boolean;
  /** A stream holds its usage chunk, because its client had asked for one. */
  readonly includeUsage: boolean;
  /** As the upstream told it; for a stream that does not say it itself. */
  readonly usage: Usage | undefined;
  /** `content-type`; all other headers were about that one call. */
  readonly contentType: string;
  readonly losses: readonly Loss[];
  /** Monotonic milliseconds. */
  readonly storedAt: number;
}

/** Replies that may be given again; outlives snapshots, bounded in bytes. */
export interface ReplyCache {
  /** Replies of more bytes are not kept. */
  readonly maxEntryBytes: number;
  /** Undefined: not there, or older than it may be. */
  find(key: string): CachedReply | undefined;
  /** As `find`, but it does not count as asked for. */
  peek(key: string): CachedReply | undefined;
  store(key: string, reply: CachedReply, maxAgeMs: number): void;
  /**
   * The kept reply as this request wants it: whole or as a stream, with or without a usage chunk. Undefined where it cannot be
   * told in that form.
   */
  render(cached: CachedReply, exchange: Exchange, attempt: Attempt): Reply | undefined;
  /** What the caller says beside the body that an answer can depend on: a fixed list, with what is not said as undefined. */
  spoken(exchange: Exchange): readonly (string | undefined)[];
}

/** What telemetry writes to; see src/record. */
export interface Recorder {
  /** The request has arrived. Returns what ends it. */
  open(exchange: Exchange): RequestRecording;
}
export interface RequestRecording {
  close(end: ReplyEnd): void;
}

/** What a plugin may ask its host for, by name, in `needs`. Plugins from outside are never granted `send`. */
export interface Capabilities {
  readonly keys: KeyRing;
  readonly configs: ConfigDirectory;
  readonly attempts: AttemptRunner;
  readonly health: HealthDirectory;
  readonly targets: TargetResolver;
  readonly models: ModelDirectory;
  readonly translate: Translator;
  readonly media: MediaInliner;
  /** The format errors are told in where no operation says otherwise. */
  readonly defaultFormat: Format;
  readonly send: Sender;
  readonly cache: ReplyCache;
  readonly recorder: Recorder;
  readonly limits: RequestLimits;
  readonly turns: Turns;
}
export type CapabilityName = keyof Capabilities;

export interface RequestLimits {
  /** Bytes of one request's body. */
  readonly body: number;
  /** The shape of its JSON. */
  readonly json: JsonLimits;
  /**
   * Takes room for so many more bytes of a request's body, out of what all requests may hold together, or gives the error to refuse
   * the body with. The room is given back with the end of the exchange.
   */
  reserve(exchange: Exchange, bytes: number): GatewayError | undefined;
}
