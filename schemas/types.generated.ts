// Generated from schemas/*.json by `node schemas/generate.ts`. Do not edit: change the schemas and run it again.

import type { Secret } from '../src/plugin/index.ts';

/**
 * A size: bytes as a whole number, or text with a unit (B, KiB, MiB, GiB).
 */
export type Bytes = number | string;
/**
 * A time: milliseconds as a whole number, or text with a unit (ms, s, m, h).
 */
export type Duration = number | string;
/**
 * A plugin by name, or with options.
 */
export type ChainItem =
  | string
  | {
      /**
       * Name of the plugin.
       */
      plugin: string;
      /**
       * Name of this instance in logs and metrics. Default: the plugin's.
       */
      name?: string;
      /**
       * Options, checked by the plugin's own schema.
       */
      options?: {
        [k: string]: unknown;
      };
    };
export type ChainList = ChainItem[];
export type CatalogEntry = VertexEntry | AnthropicEntry | SimulatorEntry;
/**
 * Models this entry may serve; `*` stands for any text. Default: all.
 *
 * @minItems 1
 */
export type Models = string[];
/**
 * Where requests go, in order.
 *
 * @minItems 1
 * @maxItems 20
 */
export type Targets = Target[];
export type ContentPart = {
  type: string;
  text?: string | null;
  thinking?: string | null;
  signature?: string | null;
  data?: string | null;
  refusal?: string | null;
  image_url?:
    | {
        url: string;
        detail?: string | null;
        mime_type?: string | null;
        format?: string | null;
        [k: string]: unknown;
      }
    | string
    | null;
  input_audio?: {
    data: string;
    format?: string | null;
    [k: string]: unknown;
  } | null;
  file?: {
    file_data?: string | null;
    file_id?: string | null;
    file_url?: string | null;
    filename?: string | null;
    mime_type?: string | null;
    [k: string]: unknown;
  } | null;
  cache_control?: {
    [k: string]: unknown;
  } | null;
  prompt_cache_breakpoint?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
};

/**
 * The JSON documents Gatehouse reads, by the name of their schema.
 */
export interface SchemaDocuments {
  server: ServerFile;
  catalog: CatalogFile;
  keys: KeysFile;
  gateway: GatewayFile;
  'chat-completions': ChatCompletionsRequest;
}
/**
 * configs/server.yaml: where Gatehouse listens, what it accepts at most, and the chains every request passes.
 */
export interface ServerFile {
  listen?: Listen;
  status?: Listen;
  limits?: Limits;
  timeouts?: Timeouts;
  /**
   * Prefixes of the gateway's own request headers: with `x-gateway-`, the config is chosen by `x-gateway-config`. The first prefix is the one replies carry.
   *
   * @minItems 1
   */
  header_prefixes?: string[];
  /**
   * Gateway config (file name in configs/gateway/ without .yaml) for requests that name none and whose key has none.
   */
  default_config?: string;
  chains?: Chains;
  /**
   * Modules with plugins of your own: a path relative to this file, or a package name. Each default-exports one plugin made by definePlugin, or an array of them.
   */
  plugins?: string[];
  egress?: Egress;
  telemetry?: Telemetry;
}
export interface Listen {
  /**
   * Address to bind.
   */
  host?: string;
  /**
   * TCP port; 0 takes a free one.
   */
  port?: number;
}
/**
 * What the gateway accepts and holds at most. What exceeds a limit is refused with an error that names it.
 */
export interface Limits {
  body?: Bytes;
  /**
   * Deepest nesting of a request body.
   */
  json_depth?: number;
  header?: Bytes;
  reply?: Bytes;
  hold_bytes?: Bytes;
  hold_time?: Duration;
  /**
   * Most connections to one upstream host, where the catalog entry sets none.
   */
  connections?: number;
}
/**
 * How long to wait for an upstream. Each names itself in the error. Nearer settings win: config target, config, catalog entry, server.
 */
export interface Timeouts {
  connect?: Duration;
  first_byte?: Duration;
  first_content?: Duration;
  idle?: Duration;
  total?: Duration;
}
/**
 * The plugins a request passes, in order. Leave out what you do not change.
 */
export interface Chains {
  entry?: ChainList;
  request?: ChainList;
  attempt?: ChainList;
}
/**
 * What the gateway may connect to besides the catalog's own hosts. Special-purpose addresses are refused unless the catalog entry says allow_insecure.
 */
export interface Egress {
  /**
   * Token endpoints a service-account file may name besides Google's https://oauth2.googleapis.com/token.
   */
  token_uris?: string[];
}
export interface Telemetry {
  /**
   * OpenTelemetry traces. OTEL_* variables win over these; without either the SDK is not loaded.
   */
  traces?: {
    /**
     * OTLP/HTTP traces endpoint, full URL.
     */
    endpoint?: string;
    /**
     * Body encoding.
     */
    protocol?: 'http/protobuf' | 'http/json';
    /**
     * service.name of the spans.
     */
    service_name?: string;
  };
  /**
   * JSON lines on stdout.
   */
  log?: {
    /**
     * Least severe level that is written.
     */
    level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
    /**
     * Access lines, one per request when its reply has ended: all, only failures, or none.
     */
    access?: 'all' | 'errors' | 'off';
  };
}
/**
 * configs/catalog.yaml: the providers requests may be sent to, with their credentials. Applications name them as @slug.
 */
export interface CatalogFile {
  /**
   * The catalog entries.
   */
  providers: CatalogEntry[];
}
/**
 * Google Vertex AI: Gemini, and partner models later. Give a service account, or a project and region for callers who bring their own OAuth token.
 */
export interface VertexEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`.
   */
  slug: string;
  /**
   * Vertex AI.
   */
  provider: 'vertex-ai';
  /**
   * The service account's JSON key: the file by reference, or the object itself. The account needs aiplatform.endpoints.predict.
   */
  service_account?: Secret | ServiceAccountKey;
  /**
   * Google Cloud project. Default: the service account's.
   */
  project_id?: string;
  /**
   * Location: a region, `global`, or the multi-regions `us` and `eu`.
   */
  region: string;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators set it; callers never do.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  /**
   * Most connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
}
/**
 * A Google service-account key, as Google writes it.
 */
export interface ServiceAccountKey {
  type?: 'service_account';
  project_id?: string;
  private_key_id?: string;
  /**
   * PKCS#8 PEM.
   */
  private_key: Secret;
  client_email: string;
  client_id?: string;
  /**
   * Used only when it is Google's or listed in the server's egress.token_uris.
   */
  token_uri?: string;
  [k: string]: unknown;
}
/**
 * The Anthropic API itself.
 */
export interface AnthropicEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`.
   */
  slug: string;
  /**
   * Anthropic.
   */
  provider: 'anthropic';
  /**
   * The vendor's API key.
   */
  api_key: Secret;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators set it; callers never do.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  /**
   * Most connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
}
/**
 * An upstream that costs nothing: it answers chat, streams, calls tools when asked, and by model name returns errors, delays and broken streams.
 */
export interface SimulatorEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`.
   */
  slug: string;
  /**
   * The simulator.
   */
  provider: 'simulator';
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators set it; callers never do.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  /**
   * Most connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
}
/**
 * configs/keys.yaml: the gateway keys applications use, and what each may do. `gatehouse keys create` prints an entry to paste.
 */
export interface KeysFile {
  /**
   * The keys.
   */
  keys: GatewayKey[];
}
export interface GatewayKey {
  /**
   * Name of the key in logs, metrics and errors. Not secret.
   */
  id: string;
  /**
   * SHA-256 of the key, as `gatehouse keys create` prints it.
   */
  digest?: string;
  /**
   * The key itself, by reference. Prefer `digest`.
   */
  key?: Secret;
  /**
   * After this moment the key is refused (RFC 3339).
   */
  expires_at?: string;
  /**
   * Client addresses the key may be used from, in CIDR notation. Default: any.
   *
   * @minItems 1
   */
  networks?: string[];
  /**
   * Catalog entries the key may use, as @slug; a provider name such as vertex-ai allows requests without the catalog. Default: all.
   *
   * @minItems 1
   */
  providers?: string[];
  /**
   * Models the key may use, with or without @slug/; `*` stands for any text. Default: all.
   *
   * @minItems 1
   */
  models?: string[];
  /**
   * Gateway configs the key may name. Default: all.
   */
  configs?: string[];
  /**
   * Gateway config for requests with this key that name none.
   */
  default_config?: string;
}
/**
 * configs/gateway/NAME.yaml: one gateway config. Requests choose it with `x-gateway-config: NAME`. What a target leaves out it inherits from the config around it.
 */
export interface GatewayFile {
  /**
   * What people call it.
   */
  name?: string;
  plugins?: ChainList;
  strategy?: Strategy;
  targets?: Targets;
  /**
   * Catalog entry as @slug, or a provider name when just one entry has it.
   */
  provider?: string;
  override_params?: OverrideParams;
  retry?: Retry;
  request_timeout?: Duration;
  timeouts?: Timeouts;
  /**
   * True: replies hold only OpenAI's own fields. The request header wins. Default true.
   */
  strict_open_ai_compliance?: boolean;
}
/**
 * How the targets are used.
 */
export interface Strategy {
  /**
   * single: the one target. fallback: the next target when one fails.
   */
  mode: 'single' | 'fallback';
  /**
   * fallback: statuses that give way to the next target. Default: 408, 409, 429, 500, 502, 503, 504, 529, which covers failed connections (502) and timeouts (504).
   *
   * @minItems 1
   */
  on_status_codes?: number[];
}
/**
 * One destination, or a strategy of its own with targets inside.
 */
export interface Target {
  /**
   * What people call it.
   */
  name?: string;
  strategy?: Strategy;
  targets?: Targets;
  /**
   * Catalog entry as @slug, or a provider name when just one entry has it.
   */
  provider?: string;
  override_params?: OverrideParams;
  retry?: Retry;
  request_timeout?: Duration;
  timeouts?: Timeouts;
  /**
   * True: replies hold only OpenAI's own fields. The request header wins. Default true.
   */
  strict_open_ai_compliance?: boolean;
}
/**
 * Fields laid over the request body, in the client's own format. Objects merge key by key, arrays replace, null deletes.
 */
export interface OverrideParams {
  [k: string]: unknown;
}
/**
 * Tries at the same target after a failure. Off unless attempts is set.
 */
export interface Retry {
  /**
   * Tries after the first.
   */
  attempts?: number;
  /**
   * Statuses that are tried again; 502 covers failed connections, 504 timeouts.
   *
   * @minItems 1
   */
  on_status_codes?: number[];
  min_delay?: Duration;
  max_delay?: Duration;
}
/**
 * Body of POST /v1/chat/completions: OpenAI's fields, and the gateway's extensions. Unknown fields are allowed everywhere: they are passed on where the target speaks this format, and reported as losses where it does not.
 */
export interface ChatCompletionsRequest {
  /**
   * `@slug/model`, or a model name where the provider is told otherwise.
   */
  model: string;
  /**
   * The conversation so far.
   */
  messages: Message[];
  /**
   * Most tokens of the answer, reasoning included; wins over max_tokens.
   */
  max_completion_tokens?: number | null;
  /**
   * Older name of max_completion_tokens.
   */
  max_tokens?: number | null;
  /**
   * 0 to 2.
   */
  temperature?: number | null;
  top_p?: number | null;
  /**
   * Extension: for providers that sample from the k likeliest tokens.
   */
  top_k?: number | null;
  /**
   * Number of answers.
   */
  n?: number | null;
  /**
   * Texts that end the answer.
   */
  stop?: string | string[] | null;
  frequency_penalty?: number | null;
  presence_penalty?: number | null;
  logit_bias?: {
    [k: string]: unknown;
  } | null;
  logprobs?: boolean | null;
  top_logprobs?: number | null;
  seed?: number | null;
  /**
   * Answer in server-sent events.
   */
  stream?: boolean | null;
  stream_options?: {
    include_usage?: boolean | null;
    include_obfuscation?: boolean | null;
    [k: string]: unknown;
  } | null;
  tools?: Tool[] | null;
  /**
   * none, auto, required, or an object that names tools.
   */
  tool_choice?:
    | string
    | {
        type?: string;
        [k: string]: unknown;
      }
    | null;
  parallel_tool_calls?: boolean | null;
  /**
   * Deprecated: tools.
   */
  functions?: Function[] | null;
  /**
   * Deprecated: tool_choice.
   */
  function_call?:
    | string
    | {
        [k: string]: unknown;
      }
    | null;
  response_format?: {
    type: string;
    json_schema?: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  } | null;
  /**
   * none, minimal, low, medium, high, xhigh or max.
   */
  reasoning_effort?: string | null;
  /**
   * Extension: explicit control of thinking; wins over reasoning_effort.
   */
  thinking?: {
    type?: string;
    budget_tokens?: number | null;
    [k: string]: unknown;
  } | null;
  verbosity?: string | null;
  modalities?: string[] | null;
  audio?: {
    [k: string]: unknown;
  } | null;
  prediction?: {
    [k: string]: unknown;
  } | null;
  web_search_options?: {
    [k: string]: unknown;
  } | null;
  metadata?: {
    [k: string]: unknown;
  } | null;
  /**
   * Extension: cost labels for Vertex AI.
   */
  labels?: {
    [k: string]: unknown;
  } | null;
  /**
   * Extension: Gemini's safetySettings.
   */
  safety_settings?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Extension: Gemini's imageConfig.
   */
  image_config?: {
    [k: string]: unknown;
  } | null;
  /**
   * Extension: version for Claude on Vertex AI.
   */
  anthropic_version?: string | null;
  /**
   * Extension: beta features of Claude.
   */
  anthropic_beta?: string | string[] | null;
  store?: boolean | null;
  user?: string | null;
  safety_identifier?: string | null;
  prompt_cache_key?: string | null;
  service_tier?: string | null;
  [k: string]: unknown;
}
export interface Message {
  role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function';
  content?: string | ContentPart[] | null;
  name?: string | null;
  tool_calls?: ToolCall[] | null;
  tool_call_id?: string | null;
  function_call?: {
    [k: string]: unknown;
  } | null;
  refusal?: string | null;
  audio?: {
    [k: string]: unknown;
  } | null;
  /**
   * Extension: thinking with its signatures, as an earlier reply gave it.
   */
  content_blocks?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Extension: generated media, as an earlier reply gave it.
   */
  content_parts?: ContentPart[] | null;
  reasoning_content?: string | null;
  cache_control?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface ToolCall {
  id: string;
  type?: string | null;
  function?: {
    name: string;
    arguments?: string | null;
    thought_signature?: string | null;
    [k: string]: unknown;
  } | null;
  custom?: {
    name: string;
    input?: string | null;
    [k: string]: unknown;
  } | null;
  extra_content?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface Tool {
  type: string;
  function?: Function;
  custom?: {
    name: string;
    description?: string | null;
    format?: {
      [k: string]: unknown;
    } | null;
    [k: string]: unknown;
  } | null;
  cache_control?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
export interface Function {
  name: string;
  description?: string | null;
  parameters?: {
    [k: string]: unknown;
  } | null;
  strict?: boolean | null;
  [k: string]: unknown;
}
