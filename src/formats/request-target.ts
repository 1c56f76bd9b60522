/** Facts about the target that an encoder needs. */
export interface RequestTarget {
  /** Model name as the upstream knows it, without the gateway's prefix. */
  readonly model: string;
  /** Hosts accept different fields (docs/protocols/vertex-ai.md, docs/protocols/gemini.md#call-ids). */
  readonly host: 'vertex' | 'direct';
  /** The client gets OpenAI's fields only, and so no thoughts (docs/protocols/requests.md#visible-thoughts). */
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
