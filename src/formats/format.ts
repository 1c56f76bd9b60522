import type { Conversation, FormatName, JsonObject, Loss } from './conversation.ts';
import type { GenerationEvent, Signals, UpstreamFailure } from './events.ts';
import type { Origins } from './losses/origins.ts';
import type { ParamPath } from './losses/place.ts';
import type { MediaByUrl, RemoteMedia } from './media/remote-media.ts';
import type { LossNotes } from './losses/reply-losses.ts';
import type { Steps } from './steps.ts';

/** A request body that cannot be read or cannot be said in the target's format: a 400 that names the parameter. */
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
export type RequestFaultCode =
  | 'invalid_request'
  | 'missing_required_parameter'
  | 'unsupported_parameter'
  | 'invalid_value';

/** A reply that is not what its format promises (garbled JSON, a missing field without which nothing can be read). */
export class ReplyFault extends Error {
  override readonly name = 'ReplyFault';
}

/** What an encoder must know of where the request goes. */
export interface RequestTarget {
  /** Model name the upstream knows, no gateway prefix. */
  readonly model: string;
  /**
   * Where the format is spoken: hosts accept different things (docs/protocols/vertex-ai.md#claude-on-vertex-ai,
   * docs/protocols/gemini.md#call-ids).
   */
  readonly host: 'vertex' | 'direct';
  /**
   * True when the client asked for OpenAI's fields only: thoughts are then not requested (docs/protocols/requests.md#visible-thoughts).
   */
  readonly strict: boolean;
  /**
   * Cost labels that the operator derives from request metadata (docs/protocols/vertex-ai.md#labels): key and value as they are in the
   * metadata. A format whose host has labels converts them to that host's alphabet; labels that the caller wrote into the body win over
   * them.
   */
  readonly labels?: Readonly<Record<string, string>>;
  /** False: the server refuses `stream_options`; usage is then counted where it sends it unasked. Default: it is asked for. */
  readonly streamUsage?: boolean | undefined;
  /** True: the body names the model also where this host has it elsewhere. */
  readonly modelInBody?: boolean | undefined;
}

export interface EncodedRequest {
  readonly body: JsonObject;
  /** Lowercase names; for settings that a host reads from headers and not from the body (docs/protocols/vertex-ai.md#service-tier). */
  readonly headers?: Readonly<Record<string, string>>;
  readonly losses: readonly Loss[];
  readonly reply: ReplyContext;
  /** What this request has left out that it likely needs; told behind the message where the upstream answers 400. */
  readonly hint?: string;
}

/** What decoding the reply needs to know of the request. Plain data, made by `encodeRequest`. */
export interface ReplyContext {
  /** Model asked for; stands in where the reply names none. */
  readonly model: string;
  /** Makes an id for a tool call that came without one: `call_` and 24 of `[a-z0-9]` (docs/protocols/replies.md#call-ids). */
  readonly newCallId: () => string;
  /** Custom (free-text) tools that were sent as functions; their arguments are unwrapped again. */
  readonly customTools?: ReadonlySet<string>;
  /** The forced tool that stands for a JSON-schema answer; its arguments become the text (docs/protocols/requests.md#the-json-tool). */
  readonly jsonTool?: string;
}

/** How the client wants its reply. */
export interface ClientContext {
  /** Id of the reply where the upstream gives none. */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** Only fields of OpenAI's API (header `x-gateway-strict-open-ai-compliance`, default true). */
  readonly strict: boolean;
  /** The client asked for a usage chunk at the end of a stream. */
  readonly includeUsage: boolean;
  /** Model asked for; stands in where the reply names none. */
  readonly model: string;
  /** The client asked with OpenAI's deprecated `functions`: it reads its call in `function_call` and nowhere else. */
  readonly functionCalls?: boolean;
  /** The reply has `id`, whatever the upstream's is: one of another API would be none here. */
  readonly ownId?: boolean;
  /** The client did not ask for thoughts, so its API gives it none (docs/protocols/messages-route.md#hidden-thoughts). */
  readonly hideThoughts?: boolean;
}

/** Stateful: feed bytes in any split, get events as soon as they are whole. After `end()` it is finished. */
export interface StreamDecoder {
  /** Moves with every event of the wire that is more than a sign of life, also where it makes no event here yet. */
  readonly progress: number;
  push(bytes: Buffer): readonly GenerationEvent[];
  /** The upstream closed. Gives what was left, and the terminal event: `end`, or `error` when the stream was cut short. */
  end(): readonly GenerationEvent[];
}

/** Stateful: events in, whole wire events out (never the half of one). `''` when there is nothing to send. */
export interface StreamEncoder {
  push(events: readonly GenerationEvent[]): string;
}

/** An error as a client of this format expects it. `type`, `code` and `param` are already in the words of the API. */
export interface ClientError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly requestId: string;
}

/**
 * Status and body of an error reply. An API may have a status of its own for a failure: 503 in one is 529 in another
 * (docs/protocols/errors.md#overload).
 */
export interface ErrorReply {
  readonly status: number;
  readonly body: JsonObject;
}

/**
 * Reads a reply in the client's own format without changing it: cuts bytes at whole wire events, watches for signals, and
 * takes out what the gateway itself asked for (the usage chunk of a client that did not ask for one).
 */
export interface PassThrough {
  readonly signals: Signals;
  /** Whole events of what has arrived, or undefined when none is whole yet. The tail of a cut event stays inside. */
  push(bytes: Buffer): Buffer | undefined;
  /** The upstream closed: what is left, if it is whole. Sets `signals.ended`, or `signals.failure` when it was cut. */
  end(): Buffer | undefined;
}

/** A body that is looked into key by key, without parsing all of it. */
export interface BodyView {
  has(key: string): boolean;
  value(key: string): unknown;
}
/** A value to put at a path of a body; `undefined` takes it away. */
export interface BodyEdit {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly source: string;
}

/** A conversation as other formats can say it, and what became less on the way there. */
export interface Portable {
  readonly conversation: Conversation;
  readonly losses: readonly Loss[];
}

/** A body that can also be searched as text, which costs a hundredth of parsing it. */
export interface SearchableBody extends BodyView {
  contains(text: string): boolean;
}

/** What a body must be rid of before it is passed through. */
export interface Cleaning {
  readonly edits: readonly BodyEdit[];
  readonly losses: readonly Loss[];
}

/** The tokens of a request, counted without running it. Pure, as all of a format. */
export interface TokenCounting {
  /** Top-level fields of a generation that a count does not take. All of them are about the answer: without them it is the same. */
  readonly notTaken: readonly string[];
  /** A limit for the answer, where `encodeRequest` demands one; it is `notTaken`, so no upstream sees it. */
  readonly demandedMaxTokens?: number;
  /** Throws ReplyFault. */
  decodeReply(body: unknown): number;
  encodeReply(tokens: number): JsonObject;
}

/** Features of an API's models that callers ask for by name. */
export interface ModelFeatures {
  /** A comma list; it counts whatever API the caller speaks. */
  readonly header: string;
  /** The gateway's own names for it, without their prefix. */
  readonly ownHeaders: readonly string[];
  /** The same in the body, where a host has it there. */
  readonly field: string;
  /** Says whose they are, to a caller who asks another's model. */
  readonly owner: string;
}

/** What the gateway knows of how a client wants its reply, before its body is read. */
export interface ClientAsked {
  /** Letters and digits, for ids of replies. */
  readonly id: string;
  /** What the compliance header or the config says. */
  readonly strict: boolean;
}
export type ClientOptions = Omit<ClientContext, 'created' | 'model'>;

/** One API format, both ways. Pure: no I/O, no clock, no configuration. */
export interface Format {
  readonly name: FormatName;
  readonly contentType: { readonly body: string; readonly stream: string };
  /** Reply header in which clients of the API look for the request's id. */
  readonly requestIdHeader: string;
  /** What keeps a silent stream alive; clients pass over it. */
  readonly heartbeat: string;

  readonly features?: ModelFeatures;
  /** Header with the version of the API that a body was written for. */
  readonly versionHeader?: string;

  /** Client side: how the reply is wanted. */
  readClient(body: BodyView, asked: ClientAsked): ClientOptions;
  /**
   * Client side: wire body → conversation. Throws RequestFault. The body has passed the operation's schema. The places of what was
   * read are noted where somebody wants them.
   */
  decodeRequest(body: JsonObject, origins?: Origins): Conversation;
  /**
   * Client side: how this API writes a field that losses and faults name as OpenAI's chat API does (places.ts), the best first.
   * Nothing where it writes it the same.
   */
  clientPaths?(place: string): readonly string[];
  /**
   * Client side: what only this format can say, in words that others have too. A conversation that stays in this format does
   * without. Throws RequestFault for what cannot be said elsewhere and would change what is asked for.
   */
  toPortable?(conversation: Conversation, origins?: Origins): Portable;
  /** Upstream side: conversation → wire body. Throws RequestFault for what must be refused. Never changes its input. */
  encodeRequest(conversation: Conversation, target: RequestTarget, reply: ReplyContext): EncodedRequest;
  /** The same: each step blocks for a part of the time. */
  encodeInSteps(conversation: Conversation, target: RequestTarget, reply: ReplyContext): Steps<EncodedRequest>;

  /** Upstream side: a plain 2xx reply, parsed → events with the terminal one. What is left out is named in `notes`. Throws ReplyFault. */
  decodeReply(body: unknown, reply: ReplyContext, notes?: LossNotes): readonly GenerationEvent[];
  decodeStream(reply: ReplyContext, notes?: LossNotes): StreamDecoder;
  /** Upstream side: a reply that is not 2xx. `text` is the body, whatever it is: JSON, an array, HTML, nothing. */
  decodeError(status: number, text: string): UpstreamFailure;

  /** Client side: events → plain body. The events hold no `error`. What the API has no place for is named in `notes`. */
  encodeReply(events: readonly GenerationEvent[], client: ClientContext, notes?: LossNotes): JsonObject;
  encodeStream(client: ClientContext, notes?: LossNotes): StreamEncoder;
  encodeError(error: ClientError): ErrorReply;
  /** The same error as the last wire event of a broken stream. */
  encodeStreamError(error: ClientError): string;

  /**
   * Same format on both sides: what the target needs changed in the caller's body (its own model name, a usage chunk that the
   * gateway counts by). `source` is `'gateway'`.
   */
  passThroughEdits(body: BodyView, target: RequestTarget): readonly BodyEdit[];
  /**
   * Same format on both sides: what this gateway wrote into earlier replies for other providers, and the client hands back
   * now. Undefined where the body holds none of it, so that all other bodies stay as they came.
   */
  clean?(body: SearchableBody): Cleaning | undefined;
  /** Same format on both sides: bytes stay as they came. `stream` false: the whole body is one JSON document. */
  passThrough(client: ClientContext, stream: boolean): PassThrough;

  /** Client side: what the body asks for and the client's replies cannot show, as the client wants them. */
  unshown?(body: BodyView, client: ClientContext): readonly Loss[];
  /** Client side: the media of a body that are named by their address. Throws nothing: faults are `decodeRequest`'s to tell. */
  remoteMedia?(body: JsonObject): readonly RemoteMedia[];
  /** Upstream side: undefined where every address goes out as it is. */
  readonly mediaByUrl?: MediaByUrl;

  /** Undefined where the API has no such operation. */
  readonly counting?: TokenCounting;
}
