import type { Conversation, DefaultedParam, FormatName, JsonObject, Loss } from './conversation.ts';
import type { GenerationEvent, Signals, UpstreamFailure } from './events.ts';
import type { Origins } from './losses/origins.ts';
import type { IsStored, MediaByUrl, RemoteMedia, FileReference } from './media/remote-media.ts';
import type { LossNotes } from './losses/reply-losses.ts';
import type { Maker } from './maker.ts';
import type { Steps } from './steps.ts';
import type { BodyEdit, BodyView, Cleaning, SearchableBody } from './body-view.ts';
import type { ClientError, ErrorReply } from './client-error.ts';
import type { RequestTarget } from './request-target.ts';
import type { ReplyLayout } from './texts/layout.ts';
import type { ReadRequestTexts } from './texts/request-texts.ts';

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
  /** Fields of the request that the reply repeats (`Format.echo`). */
  readonly echo?: RequestEcho;
}

/** Fields and tools of a request that replies of its API repeat. Plain data that only the client's own format reads. */
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
  /** The answer may begin with thoughts in `<think>…</think>` (docs/protocols/replies.md#inline-thoughts). */
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
  /** Called when the upstream closes. Returns the remaining events and the terminal one, `end` or `error`. */
  end(): readonly GenerationEvent[];
}

/** Stateful. Takes events and returns complete wire events, never a partial one. `''` when there is nothing to send. */
export interface StreamEncoder {
  push(events: readonly GenerationEvent[]): string;
  /** Like `push`, but returns bytes, if any. Each literal of a text event is written as an event of its own. */
  pushBytes?(events: readonly GenerationEvent[]): Buffer | undefined;
  /** Set by a push that had to end the reply. What it returned, and nothing else, may be sent before the error. */
  readonly failure?: UpstreamFailure | undefined;
}

/**
 * Reads a reply in the client's own format without changing it: cuts the bytes at complete wire events, watches for
 * signals, and removes what the gateway itself requested (the usage chunk of a client that did not request one).
 */
export interface PassThrough {
  readonly signals: Signals;
  /** The complete events so far, or undefined when there are none. The start of an incomplete event stays buffered. */
  push(bytes: Buffer): Buffer | undefined;
  /** Called when the upstream closes. Returns the rest, if complete. Sets `signals.ended` or `signals.failure`. */
  end(): Buffer | undefined;
}

/** A conversation that other formats can express, and the losses of the rewrite. */
export interface Portable {
  readonly conversation: Conversation;
  readonly losses: readonly Loss[];
}

/** Counts the tokens of a request without running it. Pure, like the whole format. */
export interface TokenCounting {
  /** Top-level fields of a generation that a count refuses. They concern the answer only, so the count is the same. */
  readonly notTaken: readonly string[];
  /** An answer limit for formats whose `encodeRequest` requires one. It is `notTaken`: no upstream sees it. */
  readonly demandedMaxTokens: number | undefined;
  /** The body of a count from that of a generation without `notTaken`. */
  write(body: JsonObject, target: RequestTarget): JsonObject;
  /** The same for a body that is passed through. */
  edits(body: BodyView, target: RequestTarget): readonly BodyEdit[];
  /** Throws ReplyFault. */
  decodeReply(body: unknown): number;
  encodeReply(tokens: number): JsonObject;
}

/** Members of a count whose body is that of a generation. */
export const COUNTING_DEFAULTS: Pick<TokenCounting, 'demandedMaxTokens' | 'write' | 'edits'> = {
  demandedMaxTokens: undefined,
  write: (body) => body,
  edits: () => [],
};

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

/** The request headers of an API that belong to its bodies. */
export interface RequestHeaders {
  /** Name of the header with the API version that a body was written for. */
  readonly version: string;
  readonly features: ModelFeatures;
}

/** Media that bodies name by an address. */
interface MediaSupport {
  /** Client side: the media that a body references by URL. Throws nothing: `decodeRequest` reports faults. */
  remote(body: JsonObject): readonly RemoteMedia[];
  /** Client side: the parts that name files which the gateway stores. Throws nothing. */
  stored(body: JsonObject, isStored: IsStored): readonly FileReference[];
  /** Upstream side: undefined when every URL is sent unchanged. */
  readonly byUrl?: MediaByUrl;
}

/** Where bodies have the texts that plugins read and change. */
interface TextPlaces {
  readonly reply: ReplyLayout;
  readonly request: ReadRequestTexts;
}

/** Requests and replies that keep the caller's bytes, because both sides have this format. */
export interface PassThroughSupport {
  /** True for a body with fields that the target refuses and its family's other models take: it is written anew. */
  misfits(body: SearchableBody, target: Pick<RequestTarget, 'model' | 'host' | 'structuredOutputs'>): boolean;
  /**
   * Removes content that this gateway wrote into earlier replies of other providers and that the client now sends back,
   * and tools that the target has in another form. Undefined when the body holds none, so that all other bodies pass
   * unchanged. A token count is cleaned too. Throws RequestFault.
   */
  clean(body: SearchableBody, target: RequestTarget): Cleaning | undefined;
  /** Edits that the target needs in the caller's body, such as its own model name. `source` is `'gateway'`. */
  edits(body: BodyView, target: RequestTarget): readonly BodyEdit[];
  /**
   * Opens the reader of a reply whose bytes pass unchanged. With `stream` false the whole body is one JSON document.
   * @param reply given for an answer that may begin with its chain of thought: then it is read and written anew
   */
  open(client: ClientContext, stream: boolean, reply?: ReplyContext): PassThrough;
  /** A stream may come as JSON: the reader takes it and writes the client's form. */
  readonly streamsAsJson: boolean;
}

/** `encodeReply` of a format that writes its replies as objects. */
export const inBytes =
  (encode: (...given: Parameters<Format['encodeReply']>) => JsonObject): Format['encodeReply'] =>
  (...given) =>
    Buffer.from(JSON.stringify(encode(...given)));

/** Members of the core as an API has them that needs nothing of its own there. */
export const FORMAT_DEFAULTS: Pick<Format, 'requestHeaders' | 'clientPaths' | 'toPortable' | 'echo' | 'unshown'> = {
  requestHeaders: undefined,
  clientPaths: () => [],
  toPortable: (conversation) => ({ conversation, losses: [] }),
  echo: () => undefined,
  unshown: () => [],
};

/**
 * One API format, both ways. Pure: no I/O, no clock, no configuration. The core is required, and FORMAT_DEFAULTS fills
 * some of it. The groups at the end are optional.
 */
export interface Format {
  readonly name: FormatName;
  readonly contentType: { readonly body: string; readonly stream: string };
  /** Reply header in which clients of the API look for the request's id. */
  readonly requestIdHeader: string;
  /** Undefined: the API has none beside the common ones. */
  readonly requestHeaders: RequestHeaders | undefined;
  /** Keep-alive record for a silent stream. A function where it depends on what was sent, undefined before that. */
  readonly heartbeat: string | ((sent: SentEvents | undefined) => string);

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
  clientPaths(place: string): readonly string[];
  /**
   * Client side: rewrites content that only this format can express into content that other formats have. A
   * conversation that stays in this format skips this. Throws RequestFault for content that other formats cannot
   * express and whose loss would change the meaning of the request.
   */
  toPortable(conversation: Conversation, origins?: Origins): Portable;
  /** Client side: what replies repeat of the request, if anything. Given the conversation as `decodeRequest` returned it. */
  echo(body: JsonObject, conversation: Conversation): RequestEcho | undefined;
  /** Client side: requested features that replies cannot show in the form that the client wants. */
  unshown(body: BodyView, client: ClientContext): readonly Loss[];
  /**
   * Upstream side: conversation → wire body, in steps, each of which blocks for only a part of the time. Never changes
   * its input. Throws RequestFault for a refused request.
   */
  encodeRequest(conversation: Conversation, target: RequestTarget, reply: ReplyContext): Steps<EncodedRequest>;

  /** Upstream side: a parsed 2xx reply → events. `notes` names each omitted part. Throws ReplyFault. */
  decodeReply(body: unknown, reply: ReplyContext, notes?: LossNotes): readonly GenerationEvent[];
  /** @param literals the encoder writes literals, so fragments of a text may come as one event with `literals` */
  decodeStream(reply: ReplyContext, notes?: LossNotes, literals?: boolean): StreamDecoder;
  /** Upstream side: a reply that is not 2xx. `text` is the raw body: JSON, an array, HTML or empty. */
  decodeError(status: number, text: string): UpstreamFailure;

  /** Client side: events → plain body, as JSON. The events hold no `error`. `notes` names each part without a field. */
  encodeReply(events: readonly GenerationEvent[], client: ClientContext, notes?: LossNotes): Buffer;
  encodeStream(client: ClientContext, notes?: LossNotes): StreamEncoder;
  encodeError(error: ClientError): ErrorReply;
  /**
   * The same error as the last wire event of a broken stream.
   * @param begun the client has received bytes. Default: true.
   */
  encodeStreamError(error: ClientError, begun?: boolean): string;

  /** Undefined: bodies name no media by an address. */
  readonly media?: MediaSupport;
  /** Undefined: plugins see no text of this format. */
  readonly texts?: TextPlaces;
  /**
   * Upstream side: removes all signatures of earlier thoughts, as the upstream refused one. Returns undefined for a body without any.
   * Undefined: thoughts have no signatures.
   */
  withoutSignatures?(body: BodyView, target: Pick<RequestTarget, 'model'>): Cleaning | undefined;
  /** Undefined: no route of this format counts tokens. */
  readonly counting?: TokenCounting;
  /** Undefined: requests and replies are written anew even where both sides have this format. */
  readonly passThrough?: PassThroughSupport;
}
