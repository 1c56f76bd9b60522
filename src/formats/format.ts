import type { Conversation, DefaultedParam, FormatName, JsonObject, Loss } from './conversation.ts';
import type { GenerationEvent, Signals, UpstreamFailure } from './events.ts';
import type { Origins } from './losses/origins.ts';
import type { ParamPath } from './losses/place.ts';
import type { IsStored, MediaByUrl, RemoteMedia, FileReference } from './media/remote-media.ts';
import type { LossNotes } from './losses/reply-losses.ts';
import type { Maker } from './maker.ts';
import type { Steps } from './steps.ts';

/** A request body that cannot be read or cannot be expressed in the target's format: a 400 that names the parameter. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
  readonly param: string | null;
  readonly code: RequestFaultCode;
  constructor(code: RequestFaultCode, message: string, param: ParamPath | null = null) {
    super(message);
    this.code = code;
    this.param = param === null ? null : String(param);
  }
}
type RequestFaultCode =
  | 'invalid_request'
  | 'missing_required_parameter'
  | 'unsupported_parameter'
  | 'invalid_value'
  | 'previous_response_not_found';

/** A reply that breaks its format (garbled JSON, a missing field without which nothing can be read). */
export class ReplyFault extends Error {
  override readonly name = 'ReplyFault';
}

/** Facts about the target that an encoder needs. */
export interface RequestTarget {
  /** Model name as the upstream knows it, without the gateway's prefix. */
  readonly model: string;
  /**
   * Hosts accept different fields (docs/protocols/vertex-ai.md#claude-on-vertex-ai, docs/protocols/gemini.md#call-ids).
   */
  readonly host: 'vertex' | 'direct';
  /**
   * True when the client wants OpenAI's fields only: thoughts are then not requested
   * (docs/protocols/requests.md#visible-thoughts).
   */
  readonly strict: boolean;
  /**
   * Cost labels that the operator derives from request metadata (docs/protocols/vertex-ai.md#labels): keys and values
   * are those of the metadata. A format whose host has labels converts them to that host's alphabet; labels that the
   * caller wrote into the body win over them.
   */
  readonly labels?: Readonly<Record<string, string>>;
  /** Names of `labels` that the labels of the body do not replace. */
  readonly boundLabels?: ReadonlySet<string> | undefined;
  /** True for partner models on Vertex AI, which take labels in a header. */
  readonly labelHeader?: boolean | undefined;
  /** False when the server refuses `stream_options`: usage then counts only if sent unrequested. Default: requested. */
  readonly streamUsage?: boolean | undefined;
  /** True when the body must name the model even though this host takes it from elsewhere. */
  readonly modelInBody?: boolean | undefined;
  /**
   * The fields beyond the API of the format's vendor that this target takes (openai-chat/extensions.ts). Default: all, which a
   * server of another vendor may know. The vendor's own API has none.
   */
  readonly extensions?: ReadonlySet<string> | undefined;
  /** True when the server of the chat API takes free-text tools. Default: they are sent as functions. */
  readonly customTools?: boolean | undefined;
  /** True: Claude on Vertex AI takes `output_config.format` and strict tools. Default: they are written otherwise. */
  readonly structuredOutputs?: boolean | undefined;
  /** The account of the target, where it accepts only its own signatures (maker.ts). Undefined: unknown. */
  readonly signatureScope?: string | undefined;
  /** The target may get the URL of an image where the gateway otherwise sends data. */
  readonly passUrls?: boolean | undefined;
  /** The answer limit of a request without one, for APIs that demand one. Default: such a request is refused. */
  readonly defaultMaxTokens?: DefaultMaxTokens | undefined;
  /** A part of the caller's that the target cannot read is a 400, or a reported loss. Default: `refuse`. */
  readonly onUnreadablePart?: 'refuse' | 'drop' | undefined;
  /** Undefined for a model whose limits are unknown. */
  readonly limits?: ModelLimits | undefined;
}

/** model: the largest answer of the model that fits into its context window. A number: that many tokens. */
export type DefaultMaxTokens = 'model' | 'refuse' | number;

/** Limits of a model in tokens. */
export interface ModelLimits {
  readonly output: number;
  /** Input and output together. */
  readonly context: number;
}

export interface EncodedRequest {
  readonly body: JsonObject;
  /** Lowercase names. For settings that a host reads from headers only (docs/protocols/vertex-ai.md#service-tier). */
  readonly headers?: Readonly<Record<string, string>>;
  readonly losses: readonly Loss[];
  /** Fields that the caller omitted and this API demands. */
  readonly defaulted?: readonly DefaultedParam[];
  readonly reply: ReplyContext;
  /** A part that this request omits and likely needs. Appended to the message of an upstream 400. */
  readonly hint?: string;
  /** What the client's format needs of the request to write the reply (`Format.echo`). */
  readonly echo?: RequestEcho;
}

/** What replies of an API repeat of their request. Plain data that only the client's own format reads. */
export interface RequestEcho {
  /** Fields of the reply, by their wire name. */
  readonly fields: JsonObject;
  /** Tools that other formats know under another name or kind, by the name that they know. */
  readonly tools: ReadonlyMap<string, EchoedTool>;
  /** The request asks for a summary of its conversation: the text of the answer is one. */
  readonly summarizes?: true;
}

export interface EchoedTool {
  readonly name: string;
  readonly namespace?: string;
  readonly kind: 'function' | 'custom' | 'tool_search';
}

/** Facts about the request that the reply's decoder needs. Plain data, created by `encodeRequest`. */
export interface ReplyContext {
  /** Requested model, used when the reply names none. */
  readonly model: string;
  /** Creates an id for a tool call without one: `call_` and 24 of `[a-z0-9]` (docs/protocols/replies.md#call-ids). */
  readonly newCallId: () => string;
  /** Names of tools by the aliases that were sent in their place (name-aliases.ts). */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** Custom (free-text) tools that were sent as functions, as they were named there. The decoder unwraps their arguments. */
  readonly customTools?: ReadonlySet<string>;
  /**
   * The forced tool that stands for a JSON-schema answer. Its arguments become the text of the answer
   * (docs/protocols/requests.md#the-json-tool).
   */
  readonly jsonTool?: string;
  /**
   * The answer may begin with its chain of thought in tags, `<think>…</think>`
   * (docs/protocols/replies.md#inline-thoughts).
   */
  readonly inlineThinking?: boolean;
  /** The account whose signatures the answer has (`RequestTarget`). */
  readonly signatureScope?: string | undefined;
  /** The server takes its thoughts back (openai-chat/returned-thoughts.ts): they are signed as this maker's. */
  readonly thoughtMaker?: Maker;
}

/** How the client wants its reply. */
export interface ClientContext {
  /** Reply id, used when the upstream sends none. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** Only fields of OpenAI's API (header `x-gateway-strict-open-ai-compliance`, default true). */
  readonly strict: boolean;
  /** The client requested a usage chunk at the end of a stream. */
  readonly includeUsage: boolean;
  /** Requested model, used when the reply names none. */
  readonly model: string;
  /** The client used OpenAI's deprecated `functions`: it reads a call from `function_call` only. */
  readonly functionCalls?: boolean;
  /** The reply always carries `id`: an id of another API would be invalid here. */
  readonly ownId?: boolean;
  /** The reader has to see whether output comes (`Signals.output`), because a reply without any is a failure. */
  readonly awaitsOutput?: boolean;
  /** The client did not request thoughts, so its API omits them (docs/protocols/messages-route.md#hidden-thoughts). */
  readonly hideThoughts?: boolean;
  /** The client is not shown the thoughts, but returns their signatures (docs/protocols/messages-route.md#hidden-thoughts). */
  readonly signsHidden?: boolean;
  readonly echo?: RequestEcho | undefined;
  /** The gateway keeps the reply for later requests. */
  readonly stored?: boolean | undefined;
  /** Id of the kept reply that the request continues. */
  readonly continues?: string | undefined;
  /** Most bytes that wait behind a call of the reply (streams/call-order.ts). Default: no limit, for a reply in memory. */
  readonly holdBytes?: number | undefined;
}

/** Stateful. Takes bytes in any split and returns events as soon as they are complete. After `end()` it is finished. */
export interface StreamDecoder {
  /** Increases with every wire event except keep-alives, even one without a `GenerationEvent` yet. */
  readonly progress: number;
  /** As in `Signals`. Absent where an item begins with its content. */
  readonly begun?: boolean;
  push(bytes: Buffer): readonly GenerationEvent[];
  /**
   * Called when the upstream closes. Returns the remaining events and the terminal one: `end`, or `error` when the
   * stream was cut short.
   */
  end(): readonly GenerationEvent[];
}

/** Stateful. Takes events and returns complete wire events, never a partial one. `''` when there is nothing to send. */
export interface StreamEncoder {
  push(events: readonly GenerationEvent[]): string;
  /**
   * Like `push`, but returns bytes; undefined when there is nothing to send. A text event with `literals` is written as
   * if each literal were an event of its own.
   */
  pushBytes?(events: readonly GenerationEvent[]): Buffer | undefined;
  /** Set by a push that had to end the reply. What it returned, and nothing else, may be sent before the error. */
  readonly failure?: UpstreamFailure | undefined;
}

/** An error as a client of this format expects it. `type`, `code` and `param` already use the API's own vocabulary. */
export interface ClientError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly requestId: string;
  /** The base of the ids in the reply under way, for the last event of a stream. Default: the request's id. */
  readonly replyId?: string;
  /** The gateway's own limit that refused the request. */
  readonly limit?: {
    readonly counts: 'requests' | 'tokens' | 'concurrency';
    readonly retryAfterMs: number;
  };
  /** The wait that the upstream requested, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Details of the upstream's error in Google's form, without the account. */
  readonly upstreamDetails?: readonly JsonObject[];
}

/** Codes of the gateway for a budget without room. */
const OUT_OF_BUDGET: ReadonlySet<string | null> = new Set(['budget_exceeded', 'budget_cut']);

export const isOutOfBudget = ({ code }: ClientError): boolean => OUT_OF_BUDGET.has(code);

/**
 * Status and body of an error reply. An API may use its own status for a failure: 503 in one is 529 in another
 * (docs/protocols/errors.md#overload).
 */
export interface ErrorReply {
  readonly status: number;
  readonly body: JsonObject | readonly JsonObject[];
}

/**
 * Reads a reply in the client's own format without changing it: cuts the bytes at complete wire events, watches for
 * signals, and removes what the gateway itself requested (the usage chunk of a client that did not request one).
 */
export interface PassThrough {
  readonly signals: Signals;
  /** The complete events so far, or undefined when there are none. The start of an incomplete event stays buffered. */
  push(bytes: Buffer): Buffer | undefined;
  /**
   * Called when the upstream closes. Returns the rest, if it is complete. Sets `signals.ended`, or `signals.failure`
   * when the reply was cut.
   */
  end(): Buffer | undefined;
}

/** A body that is read key by key, without parsing all of it. */
export interface BodyView {
  has(key: string): boolean;
  value(key: string): unknown;
}
/** A value to set at a path of a body; `undefined` removes the field. */
export interface BodyEdit {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly source: string;
}

/** A conversation that other formats can express, and the losses of the rewrite. */
export interface Portable {
  readonly conversation: Conversation;
  readonly losses: readonly Loss[];
}

/** A body that can also be searched as text, which costs a hundredth of parsing it. */
export interface SearchableBody extends BodyView {
  contains(text: string): boolean;
  /**
   * True when the text may match: a search for names of ASCII letters.
   * @param keys a text that matches has one of them: most bodies have none, and finding that out allocates nothing
   */
  mayMatch(pattern: RegExp, keys?: readonly string[]): boolean;
  /** Throws when an object inside a top-level value has a repeated key, whose first value JSON.parse does not show. */
  refuseRepeatsIn(key: string): void;
}

/** Edits that a body needs before it is passed through, and the losses they cause. */
export interface Cleaning {
  readonly edits: readonly BodyEdit[];
  /** Headers beside the body, with lower-case names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly losses: readonly Loss[];
}

/** Counts the tokens of a request without running it. Pure, like the whole format. */
export interface TokenCounting {
  /** Top-level fields of a generation that a count refuses. They concern the answer only, so the count is the same. */
  readonly notTaken: readonly string[];
  /** An answer limit for formats whose `encodeRequest` requires one. It is `notTaken`: no upstream sees it. */
  readonly demandedMaxTokens?: number;
  /** The body of a count, where it is not that of a generation. Without `notTaken`. */
  write?(body: JsonObject, target: RequestTarget): JsonObject;
  /** The same for a body that is passed through. */
  edits?(body: BodyView, target: RequestTarget): readonly BodyEdit[];
  /** Throws ReplyFault. */
  decodeReply(body: unknown): number;
  encodeReply(tokens: number): JsonObject;
}

/** Methods of Google's API whose bodies some targets take as they are. */
export type NativeForm = 'batchEmbedContents' | 'embedContent' | 'predict';

/** Reports a field that OpenAI's form does not have. */
export type LoseField = (param: string, reason: string) => void;

/** Bodies of a task that is no conversation, in an API that is not OpenAI's. Pure. */
export interface TaskForms {
  /** Targets with this form get the body itself. */
  readonly native: NativeForm;
  /** Throws RequestFault. */
  toOpenAi(body: JsonObject, lose: LoseField): JsonObject;
  /** @param reply OpenAI's */
  fromOpenAi(reply: JsonObject): JsonObject;
  /** How the API spells fields that losses name as OpenAI's. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Features of an API's models that callers request by name. */
export interface ModelFeatures {
  /** A comma-separated list. It applies whatever API the caller uses. */
  readonly header: string;
  /** The gateway's own names for the header, without their prefix. */
  readonly ownHeaders: readonly string[];
  /** The body field with the same list, for hosts that read it from the body. */
  readonly field: string;
  /** The feature of a longer context window, which clients also request by a suffix of the model. */
  readonly longContext: string;
  /** Loss reason for a caller who requests a model of another provider: names the owner of the features. */
  readonly owner: string;
  /** Features that another API has without a name: asking its models for them loses nothing. */
  readonly elsewhere?: Readonly<Partial<Record<FormatName, RegExp>>>;
}

/** Reply settings that are known before the client's body is read. */
export interface ClientSettings {
  /** Letters and digits, used in reply ids. */
  readonly id: string;
  /** The setting of the compliance header or the config. */
  readonly strict: boolean;
}
export type ClientOptions = Omit<ClientContext, 'created' | 'model'>;

/** The part of a stream that the client has been sent. */
export interface SentEvents {
  /** The last bytes. */
  readonly last: Buffer;
  readonly signals: Signals | undefined;
}

/** One API format, both ways. Pure: no I/O, no clock, no configuration. */
export interface Format {
  readonly name: FormatName;
  readonly contentType: { readonly body: string; readonly stream: string };
  /** Reply header in which clients of the API look for the request's id. */
  readonly requestIdHeader: string;
  /** Keep-alive record for a silent stream; clients ignore it. */
  readonly heartbeat: string;
  /** The heartbeat for a stream that has sent this much. Undefined: `heartbeat`. */
  readonly heartbeatAfter?: (sent: SentEvents) => string | undefined;

  readonly features?: ModelFeatures;
  /** Request header with the API version that a body was written for. */
  readonly versionHeader?: string;

  /** Client side: reads how the client wants its reply. */
  readClient(body: BodyView, settings: ClientSettings): ClientOptions;
  /**
   * Client side: wire body → conversation. Throws RequestFault. The body has passed the operation's schema. `origins`,
   * if given, records the place of each turn, part and tool.
   */
  decodeRequest(body: JsonObject, origins?: Origins): Conversation;
  /**
   * Client side: how this API spells a field that losses and faults name as OpenAI's chat API does (losses/places.ts), the
   * best spelling first. Empty when the spelling is the same.
   */
  clientPaths?(place: string): readonly string[];
  /**
   * Client side: rewrites content that only this format can express into content that other formats have. A
   * conversation that stays in this format skips this. Throws RequestFault for content that other formats cannot
   * express and whose loss would change the meaning of the request.
   */
  toPortable?(conversation: Conversation, origins?: Origins): Portable;
  /** Client side: what replies repeat of the request. Given the conversation as `decodeRequest` returned it. */
  echo?(body: JsonObject, conversation: Conversation): RequestEcho;
  /** Upstream side: conversation → wire body. Never changes its input. Throws RequestFault for a refused request. */
  encodeRequest(conversation: Conversation, target: RequestTarget, reply: ReplyContext): EncodedRequest;
  /** `encodeRequest` in steps, each of which blocks for only a part of the time. */
  encodeInSteps(conversation: Conversation, target: RequestTarget, reply: ReplyContext): Steps<EncodedRequest>;

  /**
   * Upstream side: a plain 2xx reply, parsed → events with the terminal one. `notes` names each omitted part. Throws
   * ReplyFault.
   */
  decodeReply(body: unknown, reply: ReplyContext, notes?: LossNotes): readonly GenerationEvent[];
  /** @param literals the encoder writes literals, so fragments of a text may come as one event with `literals` */
  decodeStream(reply: ReplyContext, notes?: LossNotes, literals?: boolean): StreamDecoder;
  /** Upstream side: a reply that is not 2xx. `text` is the raw body: JSON, an array, HTML or empty. */
  decodeError(status: number, text: string): UpstreamFailure;

  /** Client side: events → plain body. The events hold no `error`. `notes` names each part without a field. */
  encodeReply(events: readonly GenerationEvent[], client: ClientContext, notes?: LossNotes): JsonObject;
  /** The same as bytes, for a format that writes them without the object. */
  encodeReplyBytes?(events: readonly GenerationEvent[], client: ClientContext, notes?: LossNotes): Buffer;
  encodeStream(client: ClientContext, notes?: LossNotes): StreamEncoder;
  encodeError(error: ClientError): ErrorReply;
  /**
   * The same error as the last wire event of a broken stream.
   * @param begun the client has received bytes. Default: true.
   */
  encodeStreamError(error: ClientError, begun?: boolean): string;

  /**
   * Same format on both sides: edits that the target needs in the caller's body (its own model name, a usage chunk that
   * the gateway counts by). `source` is `'gateway'`.
   */
  passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[];
  /**
   * Same format on both sides: removes content that this gateway wrote into earlier replies of other providers and that
   * the client now sends back, and tools that the target has in another form. Undefined when the body holds none, so
   * that all other bodies pass unchanged. A token count is cleaned too. Throws RequestFault.
   */
  clean?(body: SearchableBody, target: RequestTarget): Cleaning | undefined;
  /**
   * Same format on both sides: true for a body with fields that the target's model or its host refuses and another generation of
   * its family takes. It is written anew.
   */
  misfits?(body: SearchableBody, target: Pick<RequestTarget, 'model' | 'host' | 'structuredOutputs'>): boolean;
  /**
   * Upstream side: removes all signatures of earlier thoughts from a body of this format, because the upstream refused
   * one. Undefined when the body holds none.
   */
  withoutSignatures?(body: BodyView, target: Pick<RequestTarget, 'model'>): Cleaning | undefined;
  /**
   * Same format on both sides: bytes pass unchanged. With `stream` false the whole body is one JSON document.
   * @param reply given for an answer that may begin with its chain of thought: then it is read and written anew
   */
  passThrough(client: ClientContext, stream: boolean, reply?: ReplyContext): PassThrough;

  /** A stream may come as JSON: `passThrough` reads it and writes the client's form. */
  readonly streamsAsJson?: boolean;

  /** Client side: requested features that replies cannot show in the form that the client wants. */
  unshown?(body: BodyView, client: ClientContext): readonly Loss[];
  /** Client side: the media that a body references by URL. Throws nothing: `decodeRequest` reports faults. */
  remoteMedia?(body: JsonObject): readonly RemoteMedia[];
  /** Client side: the parts that name files which the gateway stores. Throws nothing. */
  storedMedia?(body: JsonObject, isStored: IsStored): readonly FileReference[];
  /** Upstream side: undefined when every URL is sent unchanged. */
  readonly mediaByUrl?: MediaByUrl;

  /** Undefined when no route of this format counts tokens. */
  readonly counting?: TokenCounting;
}
