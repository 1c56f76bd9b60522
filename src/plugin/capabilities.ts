import type { Format } from '../formats/format.ts';
import type { DefaultedParam, Loss } from '../formats/conversation.ts';
import type { Usage } from '../formats/events.ts';
import type { Steps } from '../formats/steps.ts';
import type { GatewayError } from './errors.ts';
import type {
  Attempt,
  Choice,
  Exchange,
  GatewayContext,
  Outbound,
  ResolvedTarget,
  UsedAlias,
  UsedPrompt,
} from './exchange.ts';
import type { FileService } from './files.ts';
import type { ClientCertificate } from './inbound-request.ts';
import type { ModelTask } from './operation.ts';
import type { JsonLimits } from './json-scan.ts';
import type { RateGates } from './rate-gates.ts';
import type { Reply, ReplyEnd } from './reply.ts';
import type { RequestBody } from './request-body.ts';
import type { ResponseService } from './responses.ts';
import type { ComparedText, EmbeddingCall, KeptText, TextFacts, TextPlace, Uncompared } from './semantic.ts';
import type { Caller, GatewayConfig, SemanticSettings, Target } from './settings.ts';
import type { Turns } from './turns.ts';
import type { ReplyEnding } from './unwanted-replies.ts';

/** The gateway keys of the snapshot. */
export interface KeyRing {
  /**
   * Finds the caller of a key in time that does not depend on the key. Returns undefined when it is not a gateway key.
   * Throws GatewayError `expired_api_key` or `network_not_allowed`.
   */
  find(key: string, remoteAddress: string): Caller | undefined;
  /** Undefined: clients need no certificates. */
  readonly certificates?: CertificateRules | undefined;
  /** Undefined: the addresses of uploads hold no credential. */
  readonly uploads?: UploadGrants | undefined;
}

/**
 * Credentials in the addresses of uploads in pieces: Google's Python client sends the pieces without its key
 * (docs/protocols/files.md#google).
 */
export interface UploadGrants {
  /** A credential for this upload alone. It is valid as long as the upload can last and the key is valid. Undefined: there is no such key. */
  grant(keyId: string, uploadId: string): string | undefined;
  /** The caller that has begun the upload. Undefined: this is no valid grant of it. Throws as `find` of the key ring. */
  find(grant: string, uploadId: string, remoteAddress: string): Caller | undefined;
}

/** Demands that the keys of the snapshot make of certificates, where `tls.client_ca` asks clients for them. */
export interface CertificateRules {
  /** Returns it. Throws GatewayError `invalid_client_certificate` unless an authority of `tls.client_ca` has signed it. */
  verify(certificate: ClientCertificate | undefined): ClientCertificate;
  /** Throws GatewayError `invalid_client_certificate` if the caller's key demands another one. */
  allow(caller: Caller, certificate: ClientCertificate): void;
  /** The caller whose key demands this certificate. Throws as `find` of the key ring. */
  find(certificate: ClientCertificate, remoteAddress: string): Caller | undefined;
}

/** The gateway configs of the snapshot and the chains compiled for them. */
export interface ConfigDirectory {
  get(id: string): GatewayConfig | undefined;
  /**
   * Compiles a config that came with the request, as JSON. Equal texts give the same config. Throws GatewayError
   * `invalid_config`.
   * @param header full name of the header it came in
   * @param may what the caller may set in it besides the rest. Default: nothing
   */
  inline(json: string, header: string, may?: { readonly plugins: boolean }): GatewayConfig;
  readonly ids: readonly string[];
  /** Id of the server's config for requests that name none. */
  readonly fallbackId: string | undefined;
  /** Used for requests without any config: one target, which the request itself names. */
  readonly direct: GatewayConfig;
  /** Runs the request chain of `config`. */
  run(config: GatewayConfig, ctx: GatewayContext): Promise<void>;
}

/** Runs the attempt chain for a target in its own Attempt. Throws the error of the attempt. */
export interface AttemptRunner {
  /**
   * @param choice why this target was selected and whether its failure falls through; recorded, and available to the
   * attempt's plugins
   */
  run(ctx: GatewayContext, target: Target, choice: Choice): Promise<void>;
}

/**
 * Recent health of a target; outlives snapshots. An open breaker blocks its target. After its cooldown it admits one
 * request at a time (half-open), and the first success closes it.
 */
export interface TargetHealth {
  readonly state: 'closed' | 'open' | 'half_open';
  /** Monotonic milliseconds of the earliest next probe; meaningful only while `state` is `open`. */
  readonly retryAt: number;
  /** Whether the target may be tried now. Has no side effects. */
  readonly admits: boolean;
  /**
   * Starts a trial for a request that goes to the target, whether or not `admits` holds. The caller must report its
   * outcome once.
   */
  begin(): HealthTrial;
}

/**
 * One request at a target. Only the first report counts, except that `failed` may follow `succeeded`: a stream that
 * started well broke.
 */
export interface HealthTrial {
  /** The request probes whether the target has recovered. */
  readonly probe: boolean;
  succeeded(): void;
  /** Reports a failure. The breaker's settings decide whether it counts against the target. */
  failed(error: GatewayError): void;
  /** The request ended without evidence about the target's health. */
  abandoned(): void;
}

/** The health of targets, keyed by config, path in the config, model and breaker settings. */
export interface HealthDirectory {
  /**
   * Never fails: a target without requests so far is healthy.
   * @param exchange the request that would go to the target. With it, the health also counts the upstream's replies to
   * the token its caller brought; without it, those replies count for no target.
   */
  of(config: GatewayConfig, target: Target, exchange?: Exchange): TargetHealth;
}

/** Resolves targets against the catalog on behalf of a request. */
export interface TargetResolver {
  /**
   * Throws GatewayError for an unknown or ambiguous provider, for a provider or model that is not allowed, and for an
   * unusable model name.
   */
  resolve(exchange: Exchange, target: Target, model: string, stream: boolean): ResolvedTarget;
}

/** A model that a caller may use. */
export interface ListedModel {
  /** Value of a request's `model` field: `@slug/model`, or the bare name when the request's headers name the place. */
  readonly id: string;
  /** Model name without the `@slug/` prefix; of an alias, its display name. */
  readonly name: string;
  /** Provider name: `vertex-ai`; of an alias of a config, the provider of its first target. */
  readonly provider: string;
  /** The tasks that its provider has a path for. */
  readonly tasks: readonly ModelTask[];
  /** Context window in tokens; undefined when unknown. */
  readonly context?: number | undefined;
  /** The largest input in tokens, at most the context window; undefined when unknown. */
  readonly maxInput?: number | undefined;
  /** The largest answer in tokens; undefined when unknown. */
  readonly maxOutput?: number | undefined;
  /** Reasoning efforts, the default first; undefined when unknown. */
  readonly efforts?: readonly string[] | undefined;
  /** The types of `thinking` of Anthropic's API that the model takes; undefined when unknown. */
  readonly thinking?: readonly string[] | undefined;
  /** Abilities of the model, in the words of data/models.schema.json (`caps`), and `citations` of Claude: a hint. Undefined when unknown. */
  readonly capabilities?: readonly string[] | undefined;
}

/** The aliases of the catalog. */
export interface AliasDirectory {
  readonly isEmpty: boolean;
  /** Undefined for a name that is no alias. */
  find(caller: Caller | undefined, name: string): UsedAlias | undefined;
}

/** The models of the catalog that one caller may use. */
export interface ModelDirectory {
  /** Models that the catalog lists by name, ordered by id: aliases, then names with `@slug/`. */
  list(exchange: Exchange): readonly ListedModel[];
  /**
   * Finds a model that this request's caller may use, listed by name or not. Returns undefined both for a model that
   * does not exist and for one that the caller may not use, so that a caller cannot tell them apart. Throws
   * GatewayError for invalid headers.
   */
  find(exchange: Exchange, id: string): ListedModel | undefined;
}

/** A version of a prompt, as a request may use it. */
export interface FoundPrompt {
  readonly id: string;
  readonly version: number;
  /**
   * The fields of a chat request that the prompt sets. Throws GatewayError for values that it does not take, and for
   * texts longer than `budget` characters in all.
   */
  render(
    variables: Readonly<Record<string, unknown>>,
    budget: number,
  ): { readonly fields: Readonly<Record<string, unknown>>; readonly media: UsedPrompt['media'] };
}

/** A prompt that a caller may use. */
export interface ListedPrompt {
  readonly id: string;
  readonly description: string | undefined;
  readonly labels: Readonly<Record<string, number>>;
  readonly versions: readonly ListedVersion[];
}

export interface ListedVersion {
  readonly version: number;
  readonly released: boolean;
  readonly note: string | undefined;
  readonly model: string | undefined;
  /** The declarations of its variables. */
  readonly variables: Readonly<Record<string, object>>;
}

/** The prompts of the snapshot. */
export interface PromptDirectory {
  /** The prompts that the caller may use, ordered by id. */
  list(exchange: Exchange): readonly ListedPrompt[];
  /**
   * The version that the request names, that its config pins, or the latest. Throws GatewayError `unknown_prompt` and
   * `prompt_not_allowed`.
   * @param reference `summary`, `summary@3`, `summary@production`
   */
  find(exchange: Exchange, reference: string): FoundPrompt;
}

/** Sends an attempt's encoded request once: authorizes, connects, waits for the commit gate. */
export interface Sender {
  send(exchange: Exchange, attempt: Attempt): Promise<Reply>;
}

/** Client format → conversation → upstream format, and back for the reply. */
export interface Translator {
  /**
   * Parses and checks the body when `prepare` will read all of it; otherwise does nothing. Throws GatewayError.
   * `prepare` does the same for a body that was not checked before.
   */
  check(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Steps<void>;
  /** Encodes the request for its target. Throws GatewayError for fields that the target's format must reject. */
  prepare(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Prepared;
  /** `prepare` for a large body: each step blocks the process for only part of the work. */
  prepareInSteps(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Steps<Prepared>;
}
export interface Prepared {
  readonly outbound: Outbound;
  readonly losses: readonly Loss[];
  /** Fields that the caller omitted and the target demands. */
  readonly defaulted?: readonly DefaultedParam[];
}

/** Fetches the media that a request references by URL, for a target that accepts media only as data. */
export interface MediaInliner {
  /**
   * Returns the attempt's body with the media inlined; undefined when no media has to be fetched. Throws GatewayError
   * whose `param` is the part: the config does not allow its address, or the fetch failed.
   */
  inline(exchange: Exchange, attempt: Attempt, resolved: ResolvedTarget): Promise<RequestBody> | undefined;
}

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
  /** `find` without counting as a use of the entry. */
  peek(key: string): CachedReply | undefined;
  store(key: string, reply: CachedReply, maxAgeMs: number): void;
  /**
   * Renders the stored reply as this request needs it: as a body or a stream, with or without a usage chunk. Returns
   * undefined when it cannot be expressed in that form.
   */
  render(cached: CachedReply, exchange: Exchange, attempt: Attempt): Reply | undefined;
  /**
   * Values outside the body that a reply can depend on: a list of fixed length, undefined for each value that the
   * caller did not send.
   */
  spoken(exchange: Exchange): readonly (string | undefined)[];
}

export interface EmbedRequest {
  readonly exchange: Exchange;
  readonly attempt: Attempt;
  readonly settings: SemanticSettings;
  readonly texts: readonly string[];
}

/** Vectors of length 1, in the order of the texts; undefined when they are late or the call failed. */
export interface Embedded {
  readonly vectors: readonly Float32Array[] | undefined;
  /** Undefined when the catalog entry was not found. */
  readonly call: EmbeddingCall | undefined;
  /** Code of the error of a failed call. */
  readonly error?: string | undefined;
}

export interface SemanticCache {
  /** Splits the request into the text that may differ and the rest. */
  split(exchange: Exchange, attempt: Attempt): ComparedText | Uncompared;
  /** Texts of a group, the least recently used first. */
  texts(place: TextPlace): readonly KeptText[];
  /** The first fact that must be equal in which two texts differ. */
  unequalFact(one: TextFacts, other: TextFacts): keyof TextFacts | undefined;
  /** Whether the words that both texts have come in the same order. For near texts only: it reads both. */
  inSameOrder(one: TextFacts, other: TextFacts): boolean;
  /** Code of the error with which a call for vectors would fail before anything is sent. */
  problem(request: EmbedRequest): string | undefined;
  /** Never rejects. The time of the settings bounds it. */
  embed(request: EmbedRequest): Promise<Embedded>;
  /** The cosine of a stored text and a vector; undefined while the text has no vector. */
  similarity(kept: KeptText, vector: Float32Array): number | undefined;
  /** The vector of a stored text, if it is known. */
  vectorOf(kept: KeptText): Float32Array | undefined;
  /** Keeps the vector of a stored text. */
  keepVector(kept: KeptText, vector: Float32Array): void;
  /** Stores a text with the key of its reply. */
  add(
    place: TextPlace,
    text: Pick<ComparedText, 'text' | 'facts'> & { readonly key: string },
    vector?: Float32Array,
  ): void;
  /** Notes that the reply to a stored text was used. */
  use(kept: KeptText): void;
  /** Forgets a stored text, whose reply is gone. */
  remove(kept: KeptText): void;
  /** The same cache, whose calls for vectors this sender makes. For dry runs. */
  through(send: Sender): SemanticCache;
  /** Whether a reply may answer other texts: it is text alone and complete, without a tool call, media or a refusal. */
  isText(reply: CachedReply, exchange: Exchange): boolean;
}

/** How a reserve is worked out. */
export interface BudgetRules {
  /** bound: the most that the request can cost. typical: where the gateway chose the length of the answer, what 99 of 100 answers of the model have. */
  readonly reserve: 'bound' | 'typical';
  /** The treatment of a request whose price is not known. `assume`: USD per million tokens. */
  readonly unknownPrice: 'refuse' | 'admit_and_alarm' | { readonly input: number; readonly output: number };
  /** The treatment of a stream that costs more than its reserve, when its budgets have no room for more. */
  readonly onOverrun: 'continue' | 'cut';
}

/** The budgets of callers. */
export interface RequestBudgets {
  /**
   * Reserves what the attempt can cost on every budget of its caller, and notes it in `attempt.budget`. Undefined: done, or the caller
   * has no budget. A promise: a question to the store for room is under way, which takes a bounded time. Throws, or rejects with, GatewayError
   * `budget_exceeded`, `budget_unavailable`, `model_unpriced`. The end of the exchange settles what was reserved.
   */
  reserve(exchange: Exchange, attempt: Attempt, rules: BudgetRules): Promise<void> | undefined;
  /** Notes in `attempt.budget` what `reserve` would reserve, and counts nothing. Throws where no budget could admit it, spent or not. */
  preview(exchange: Exchange, attempt: Attempt, rules: BudgetRules): void;
}

/** Records requests for logs, metrics and traces; see src/core/record. */
export interface Recorder {
  /** Starts recording a request that has arrived. The returned object ends the recording. */
  open(exchange: Exchange): RequestRecording;
}
export interface RequestRecording {
  close(end: ReplyEnd): void;
}

/** Capabilities that a plugin names in `needs` and gets from its host. External plugins never get `send`, `semantic` and `budgets`. */
export interface Capabilities {
  readonly keys: KeyRing;
  readonly configs: ConfigDirectory;
  readonly attempts: AttemptRunner;
  readonly health: HealthDirectory;
  readonly targets: TargetResolver;
  readonly models: ModelDirectory;
  readonly aliases: AliasDirectory;
  readonly prompts: PromptDirectory;
  readonly translate: Translator;
  readonly media: MediaInliner;
  /** The format of error replies for requests without an operation. */
  readonly defaultFormat: Format;
  readonly send: Sender;
  readonly cache: ReplyCache;
  readonly semantic: SemanticCache;
  readonly recorder: Recorder;
  readonly limits: RequestLimits;
  readonly gates: RateGates;
  readonly turns: Turns;
  readonly files: FileService;
  readonly responses: ResponseService;
  readonly budgets: RequestBudgets;
}
export type CapabilityName = keyof Capabilities;

export interface FormLimits {
  /** Maximum bytes of one form. */
  readonly bytes: number;
  /** Maximum bytes of one form that are held in memory. */
  readonly held: number;
  /** A client that sends nothing for this long is disconnected. */
  readonly idleMs: number;
}

export interface RequestLimits {
  /** Maximum bytes of one request's body. */
  readonly body: number;
  /** Limits of multipart forms for models. */
  readonly form: FormLimits;
  /** Limits of the body's JSON structure. */
  readonly json: JsonLimits;
  /** The gateway has no external plugin, which might read a body after its request. */
  readonly builtInOnly?: boolean;
  /**
   * Reserves `bytes` more for a request's body out of the bytes that all requests may hold together. Returns the error
   * to reject the body with when they are not available. The end of the exchange releases them.
   */
  reserve(exchange: Exchange, bytes: number): GatewayError | undefined;
}
