import type { Maker, Signed } from './maker.ts';

/**
 * The neutral conversation: the meaning of a chat request, independent of its API.
 *
 * Rules every format keeps:
 * - Order is kept: turns as they came, parts as they came. System turns stay in place; a format whose wire has one
 *   system field hoists them when it encodes.
 * - Nothing is guessed: a field the caller did not send is `undefined` here, never a default.
 * - Data is carried, not interpreted: tool arguments stay the JSON text the caller sent, media stays base64 or a URL.
 * - A signature is valid for its maker alone. `maker` is set where the kind of the part does not show it (maker.ts).
 * - A decoder shares the caller's objects (schemas, opaque values) and an encoder never changes them.
 */

/** Names of the wire formats. A format is one two-way module in a folder of the same name. */
export type FormatName = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini';

export type JsonObject = { [key: string]: unknown };

/** A prompt-cache marker as Anthropic spells it; other formats that know markers map to and from it. */
export interface CacheMarker {
  readonly type: 'ephemeral';
  readonly ttl?: string;
  /** Anthropic's: who may read the cache. */
  readonly scope?: unknown;
}

/** Gemini signs ordinary text too (measured: 177 of the recordings). The signature is replayed on the same part. */
export interface TextPart extends Signed {
  readonly type: 'text';
  readonly text: string;
  /** Transcript of audio in the same answer: OpenAI returns it beside the audio and not as content. */
  readonly spoken?: boolean;
  /** OpenAI's `phase` of a message: `commentary` or `final_answer`. It goes back to OpenAI unchanged. */
  readonly phase?: string;
  readonly itemId?: string;
  readonly cache?: CacheMarker;
}

/** Reasoning the model showed. `signature` proves it to the provider that made it and must travel back unchanged. */
export interface ThinkingPart extends Signed {
  readonly type: 'thinking';
  readonly text: string;
  /** The model's thoughts are shown in front of the answer (docs/protocols/replies.md#inline-thoughts). */
  readonly inline?: boolean;
  /** Arrived as OpenAI-style `reasoning_content`, which does not name its model: that may or may not need it back. */
  readonly unnamed?: boolean;
  /** The gateway sent it to a client of the Messages API without a signature, because its maker does not need it back. */
  readonly shown?: boolean;
  readonly itemId?: string;
}

export interface RedactedThinkingPart {
  readonly type: 'redacted_thinking';
  readonly data: string;
  readonly maker?: Maker;
}

export type MediaSource =
  | { readonly kind: 'data'; /** base64 */ readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly id: string }
  | { readonly kind: 'text'; readonly text: string };

export interface StoredMedia {
  readonly id: string;
  readonly expiresAt?: number;
}

/** An image, audio, a video or a document. `mime` is undefined only when neither the caller nor the URL gives it. */
export interface MediaPart extends Signed {
  readonly type: 'media';
  readonly media: 'image' | 'audio' | 'video' | 'document';
  readonly mime?: string;
  /** Parameters of the media type that describe the bytes (`rate=16000`), from a data URI. */
  readonly parameters?: string;
  readonly source: MediaSource;
  readonly name?: string;
  readonly detail?: string;
  /** Generated audio: its id at the provider, and its expiry (Unix seconds). */
  readonly stored?: StoredMedia;
  readonly cache?: CacheMarker;
}

export interface ToolCallPart extends Signed {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  /** The namespace of the tool. Only OpenAI's Responses API has namespaces: `toPortable` joins them to the name. */
  readonly namespace?: string;
  readonly itemId?: string;
  /** JSON text as the caller or the model wrote it; `''` means no arguments. For `custom` tools: free text. */
  readonly arguments: string;
  readonly custom?: boolean;
  /** Written as OpenAI's deprecated `function_call`, which has no id: `id` is generated. */
  readonly legacy?: boolean;
  readonly cache?: CacheMarker;
}

export interface ToolResultPart {
  readonly type: 'tool_result';
  /** Id of the call this answers. */
  readonly callId: string;
  /** Name of the tool where the caller gave it; formats that need it look it up by `callId` first. */
  readonly name?: string;
  readonly content: readonly Part[];
  readonly isError?: boolean;
  readonly cache?: CacheMarker;
}

interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

/** Code that the model ran at the provider, and its output. */
export interface CodePart extends Signed {
  readonly type: 'code';
  readonly language: string;
  readonly code: string;
  readonly id?: string;
}
export interface CodeResultPart extends Signed {
  readonly type: 'code_result';
  readonly outcome: string;
  readonly output: string;
  readonly id?: string;
}

/** A call that the provider made to a tool of an MCP server. */
export interface McpCallPart {
  readonly type: 'mcp_call';
  /** As the maker wrote it: an API has ids of its own form. */
  readonly id: string;
  /** The label of the server. */
  readonly server: string;
  readonly name: string;
  /** JSON text */
  readonly arguments: string;
  readonly cache?: CacheMarker;
  /** Fields without a place here, which only the Messages API writes again. */
  readonly extras?: JsonObject;
}
export interface McpResultPart {
  readonly type: 'mcp_result';
  /** Id of the call that this answers. */
  readonly callId: string;
  readonly content: readonly Part[];
  readonly isError?: boolean;
  readonly cache?: CacheMarker;
  /** See `McpCallPart`. */
  readonly extras?: JsonObject;
}

/** A block that only `format` understands (server tools, container uploads …). Any other format loses it. */
export interface OpaquePart {
  readonly type: 'opaque';
  readonly format: FormatName;
  readonly value: JsonObject;
  /**
   * Not a block of its own: `value` holds the type and further fields of the block that became the part before it (the
   * citations of a text). A format that understands both joins them again. For any other, only these fields are a loss.
   */
  readonly attached?: boolean;
}

export type Part =
  | TextPart
  | ThinkingPart
  | RedactedThinkingPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | RefusalPart
  | CodePart
  | CodeResultPart
  | McpCallPart
  | McpResultPart
  | OpaquePart;

/** `tool` turns hold only `tool_result` parts. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly Part[];
  readonly name?: string;
}

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON Schema, shared with the caller's body: never change it. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
  /** See `ToolCallPart`. */
  readonly namespace?: string;
  /** OpenAI's tool search, run by the client: a function for models of other APIs. */
  readonly search?: boolean;
  readonly cache?: CacheMarker;
  /** Fields without a place here, which only the format in `extrasFormat` writes again. */
  readonly extras?: JsonObject;
}
/** A tool that takes free text instead of JSON (OpenAI `custom`). */
export interface CustomTool {
  readonly type: 'custom';
  readonly name: string;
  readonly description?: string;
  readonly format?: JsonObject;
  /** See `ToolCallPart`. */
  readonly namespace?: string;
}
/** A server of tools (MCP) that the provider connects to, and whose tools it calls without asking the caller. */
export interface McpServer {
  /** Unique in a request. */
  readonly label: string;
  /** Undefined: the provider knows the server by another name, which `binding` has. */
  readonly url?: string;
  /** The token with which the provider calls the server: a secret. */
  readonly authorization?: string;
  /** The tools that may be called. Default: all of the server. */
  readonly allowed?: readonly string[];
  /** Fields of the caller's API without which other tools could be called, or without a permission that they need. */
  readonly binding?: readonly BindingField[];
  /** Further fields of the caller's API. Only the format of the tool writes them again. */
  readonly lost?: readonly LostField[];
}
/** A field that no other API has: a target of another API refuses the request. */
export interface BindingField {
  /** A path below the tool, or a path of the body where the tool has no place of its own. */
  readonly field: string;
  readonly reason: string;
}
export interface LostField {
  readonly field: string;
  readonly action: 'dropped' | 'downgraded';
  readonly reason: string;
}

/** A tool the provider runs itself. `kind` is the neutral name; `options` are as the caller wrote them. */
export interface BuiltinTool {
  readonly type: 'builtin';
  readonly kind:
    | 'web_search'
    | 'web_search_retrieval'
    | 'computer_use'
    | 'google_maps'
    | 'url_context'
    | 'code_execution'
    | 'enterprise_web_search'
    | 'image_generation'
    | 'mcp'
    | 'opaque';
  readonly options?: JsonObject;
  /** For `opaque` and `mcp`: the format that `options` is written in. */
  readonly format?: FormatName;
  /** For `mcp`. */
  readonly server?: McpServer;
}
export type Tool = FunctionTool | CustomTool | BuiltinTool;

export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'required';
  /** Only these tools may be called. One name with `required` is a forced call of that tool. */
  readonly names?: readonly string[];
  /** Namespaces of `names`, by index; see `ToolCallPart`. */
  readonly namespaces?: readonly (string | undefined)[];
  /** Tools of `tools` that the provider runs and that are chosen beside `names`. Only the Responses API can name them. */
  readonly hosted?: readonly BuiltinTool[];
}

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  /** Number of requested answers. */
  readonly n?: number;
  readonly logprobs?: boolean;
  readonly topLogprobs?: number;
}

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name?: string;
      readonly description?: string;
      readonly schema?: JsonObject;
      readonly strict?: boolean;
    };

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface Reasoning {
  readonly effort?: ReasoningEffort;
  /** The API of the effort, if it is not the API of the request. Only in the Messages API an effort does not turn thinking on. */
  readonly effortOf?: FormatName;
  /** The caller wants to see summaries of the thoughts, and does not ask for thoughts by this. */
  readonly summary?: true;
  /** Explicit thinking control; wins over `effort` (docs/protocols/requests.md#explicit-thinking). */
  readonly thinking?: {
    readonly type: 'enabled' | 'adaptive' | 'disabled' | 'between_tools';
    readonly budgetTokens?: number;
    readonly display?: string;
  };
}

export interface Conversation {
  /** Model as the caller named it, without the gateway's `@slug/` prefix once the target is resolved. */
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly maxTokens?: number;
  readonly sampling: Sampling;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  /** False when the caller forbids several tool calls in one turn. */
  readonly parallelToolCalls?: boolean;
  readonly responseFormat?: ResponseFormat;
  readonly reasoning?: Reasoning;
  readonly modalities?: readonly string[];
  readonly audio?: JsonObject;
  readonly webSearch?: JsonObject;
  readonly user?: string;
  readonly metadata?: JsonObject;
  /** Cost labels of the cloud platform (docs/protocols/vertex-ai.md#labels). */
  readonly labels?: JsonObject;
  readonly safetySettings?: readonly unknown[];
  readonly imageConfig?: JsonObject;
  readonly serviceTier?: string;
  readonly verbosity?: string;
  readonly stream: boolean;
  /**
   * Top-level fields of the caller's body that have no place above, by their wire name. The format they were written in
   * sends them unchanged; any other format reports each as a loss.
   */
  readonly extras?: JsonObject;
  readonly extrasFormat?: FormatName;
  /** Nested fields of the caller's body without a place above. They are lost unless the body is passed through. */
  readonly unread?: readonly Loss[];
}

/** A field that the target's API demands and the caller's API does not: the caller sent none, and the gateway chose. */
export interface DefaultedParam {
  /** Name of the field in the caller's API. */
  readonly param: string;
  readonly value: number;
  readonly reason: string;
}

/** Something the target cannot express. Reported in a header, a counter and the record; a 400 under strict params. */
export interface Loss {
  /**
   * Path in the caller's body: `seed`, `messages[2].content[0]`. An encoder does not know that body. It names a place
   * in the conversation, as places.ts defines, and translate.ts maps it to the caller's path.
   */
  readonly param: string;
  /** dropped: not sent. clamped: sent with another value. downgraded: sent as something weaker. */
  readonly action: 'dropped' | 'clamped' | 'downgraded';
  readonly reason: string;
  /** Set when this entry stands for that many further losses without names (losses/losses.ts); `param` is then `(+7 more)`. */
  readonly count?: number;
}
