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
export type CatalogEntry = VertexEntry | AnthropicEntry | OpenAiEntry | AzureOpenAiEntry | SimulatorEntry;
/**
 * Names of betas.
 */
export type Betas = string[];
/**
 * Models this entry may serve; `*` stands for any text. Default: all.
 *
 * @minItems 1
 */
export type Models = string[];
/**
 * Fields taken out of the request before it is sent, after override_params; dots lead into objects. A field that is not there is no error.
 *
 * @minItems 1
 */
export type DropParams = string[];
/**
 * Request headers sent on to the upstream as they came, besides those the gateway writes itself. Credentials, cookies and connection headers cannot be named; a config that comes with a request cannot name what steers an upstream either, such as openai-organization, x-forwarded-* or x-http-method-override.
 *
 * @minItems 1
 * @maxItems 16
 */
export type ForwardHeaders = string[];
/**
 * Where requests go, in order.
 *
 * @minItems 1
 * @maxItems 20
 */
export type Targets = Target[];
/**
 * One message. Which fields it may have depends on `role`.
 */
export type ChatMessage = {
  /**
   * Who speaks. `function` is deprecated: use `tool`.
   */
  role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function';
  /**
   * Text, or parts. null where tool calls stand instead.
   */
  content?: string | ChatContentPart[] | null;
  /**
   * Name of the speaker, or of the tool.
   */
  name?: string | null;
  /**
   * Calls the assistant made.
   */
  tool_calls?: ChatToolCall[] | null;
  /**
   * `tool`: the call this answers.
   */
  tool_call_id?: string | null;
  /**
   * Deprecated: use `tool_calls`.
   */
  function_call?: {
    /**
     * Function that was called.
     */
    name: string;
    /**
     * Arguments as JSON text.
     */
    arguments?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * `assistant`: why it refused.
   */
  refusal?: string | null;
  /**
   * `assistant`: an earlier answer in sound, by its id.
   */
  audio?: {
    [k: string]: unknown;
  } | null;
  /**
   * Extension: the assistant's thinking and text blocks, sent back as they were received. Win over `content`.
   */
  content_blocks?: ChatContentBlock[] | null;
  /**
   * Extension: text and generated images, sent back as they were received.
   */
  content_parts?: ChatContentPart[] | null;
  /**
   * Extension: unsigned thinking, as DeepSeek and vLLM write it.
   */
  reasoning_content?: string | null;
  cache_control?: CacheControl;
  [k: string]: unknown;
};
/**
 * A piece of content. Types that are not known here are kept for the API that knows them.
 */
export type ChatContentPart = {
  /**
   * `text`, `image_url`, `input_audio`, `file`, `refusal`, `thinking`, `redacted_thinking` or another.
   */
  type: string;
  cache_control?: CacheControl;
  /**
   * OpenAI's cache marker.
   */
  prompt_cache_breakpoint?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
};
/**
 * Extension: Anthropic's prompt-cache marker.
 */
export type CacheControl = {
  /**
   * Always `ephemeral`.
   */
  type?: string;
  /**
   * `5m` or `1h`.
   */
  ttl?: string | null;
  [k: string]: unknown;
} | null;
/**
 * A function, a free-text tool, or a tool the provider runs, named by its type.
 */
export type ChatTool = {
  /**
   * `function`, `custom`, or the type of a provider's tool.
   */
  type: string;
  cache_control?: CacheControl;
  [k: string]: unknown;
};
/**
 * Whether, and which, tools are called.
 */
export type ChatToolChoice =
  | string
  | {
      [k: string]: unknown;
    }
  | null;
/**
 * Shape of the answer. A schema may also stand directly in `json_schema`.
 */
export type ChatResponseFormat = {
  /**
   * Kind of format.
   */
  type: 'text' | 'json_object' | 'json_schema';
  /**
   * The schema with its name.
   */
  json_schema?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
} | null;

/**
 * The JSON documents Gatehouse reads, by the name of their schema.
 */
export interface SchemaDocuments {
  server: ServerFile;
  catalog: CatalogFile;
  keys: KeysFile;
  gateway: GatewayFile;
  'chat-completions': ChatCompletionsRequest;
  test: ConfigTestFile;
}
/**
 * configs/server.yaml: where Gatehouse listens, what it accepts at most, and the chains every request passes.
 */
export interface ServerFile {
  listen?: Listen;
  status?: Listen;
  /**
   * Networks of the proxies before the gateway, in CIDR notation. From these, X-Forwarded-For and Forwarded say where a request comes from; from others they are not read. Name proxies only: what calls from there can choose an address.
   */
  trusted_proxies?: string[];
  admin?: Admin;
  limits?: Limits;
  deadline?: Duration;
  drain?: Drain;
  timeouts?: Timeouts;
  /**
   * Prefixes of the gateway's own headers: with `gateway`, which stands for `x-gateway-`, the config is chosen by `x-gateway-config`. Replies carry the prefix their request used, else the first.
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
  cache?: CacheStore;
  reload?: Reload;
  egress?: Egress;
  telemetry?: Telemetry;
}
export interface Listen {
  /**
   * Address to bind. Default: what GATEHOUSE_HOST in the environment says; without it 127.0.0.1, which only this machine reaches.
   */
  host?: string;
  /**
   * TCP port; 0 takes a free one.
   */
  port?: number;
}
/**
 * The listener for operators: what became of single requests. On loopback it needs no token; on any other address it does not start without one.
 */
export interface Admin {
  /**
   * false: no such listener, and no records are kept.
   */
  enabled?: boolean;
  /**
   * Address to bind.
   */
  host?: string;
  /**
   * TCP port; 0 takes a free one.
   */
  port?: number;
  /**
   * Asked for as `Authorization: Bearer`.
   */
  token?: Secret;
  /**
   * Names in the Host header that are answered beside `localhost`, loopback addresses and `host`: a browser that was led here by another name is not.
   *
   * @minItems 1
   * @maxItems 16
   */
  hosts?: string[];
  /**
   * Which requests can be explained after they were served. asked: those whose gateway config asks for it (`reply_headers`). The latest 100 in each worker are kept for that, with their bodies, up to 1 MiB each.
   */
  explain?: 'asked' | 'all' | 'none';
  /**
   * Requests that are remembered, the latest ones; in each worker.
   */
  records?: number;
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
  /**
   * Most keys of one object of a request body, at any depth.
   */
  json_keys?: number;
  /**
   * Most items of one list of a request body, at any depth.
   */
  json_items?: number;
  header?: Bytes;
  reply?: Bytes;
  hold_bytes?: Bytes;
  hold_time?: Duration;
  inline_config?: Bytes;
  /**
   * Most connections to one upstream host, where the catalog entry sets none. Default: as many as `in_flight`, so that no admitted request waits for another's connection. With fewer, requests wait in line, each key in turn, for at most `timeouts.connect`; then they fail with `pool_exhausted` (503).
   */
  connections?: number;
  /**
   * Requests under way at once, streams until their end among them; one more is refused at once (503, `retry-after`).
   */
  in_flight?: number;
  /**
   * Requests with a body over 1 MB that may wait for their turn to be read, checked or translated; a quarter of them with one key. A further one is refused (503, `retry-after`).
   */
  large_bodies?: number;
  /**
   * Once three quarters of `in_flight` are in use, a key with this many requests under way gets 503 `busy`. Below three quarters there is no limit per key. Callers without a key count as one key. Default: a quarter of `in_flight`.
   */
  in_flight_per_key?: number;
  in_flight_bytes?: Bytes;
  in_flight_bytes_per_key?: Bytes;
  /**
   * Requests of one connection that are served at once (HTTP pipelining). Those behind them wait on the connection, and are served in their order.
   */
  pipelined?: number;
  header_time?: Duration;
  body_time?: Duration;
  plugin_time?: Duration;
  commit_bytes?: Bytes;
  commit_time?: Duration;
}
/**
 * What happens at SIGTERM: /readyz says no at once; for `delay` requests are still taken; then running replies have `timeout` to end. Streams cut by that get an error event. A second signal ends at once. Ctrl-C (SIGINT) leaves out the delay.
 */
export interface Drain {
  delay?: Duration;
  timeout?: Duration;
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
 * Memory for the replies that gateway configs with `cache` keep, in each process.
 */
export interface CacheStore {
  max_bytes?: Bytes;
  max_entry_bytes?: Bytes;
}
/**
 * When the settings are read anew. SIGHUP always does it.
 */
export interface Reload {
  /**
   * Read the settings anew when a file of them changes, those named by `${file:…}` among them.
   */
  watch?: boolean;
  debounce?: Duration;
}
/**
 * What the gateway may connect to besides the catalog's own hosts. Special-purpose addresses are refused unless the catalog entry says allow_insecure.
 */
export interface Egress {
  /**
   * Token endpoints that service accounts and federated credentials may name besides Google's own.
   */
  token_uris?: string[];
}
/**
 * What the gateway writes and sends about requests.
 */
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
 * Google Vertex AI: Gemini, Claude, Llama, Mistral and other models of its publishers, and models deployed to endpoints of one's own. Give a region and one source of credentials (`service_account`, `credentials` or `credentials_json`), a region and a project for callers who bring their own OAuth token, or an `api_key` alone.
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
   * Where this machine has Google credentials of its own, in place of a key: `application-default` looks where Google's tools do (the file GOOGLE_APPLICATION_CREDENTIALS names, gcloud's file, the metadata server), `metadata-server` asks that alone (GKE, Cloud Run, Compute Engine). Needs project_id.
   */
  credentials?: 'application-default' | 'metadata-server';
  /**
   * Any credentials JSON of Google's by reference: workload identity federation from a file (`external_account`), `impersonated_service_account`, `authorized_user` or `service_account`.
   */
  credentials_json?: Secret;
  /**
   * Google Cloud project. Default: the service account's.
   */
  project_id?: string;
  /**
   * Location: a region, `global`, or the multi-regions `us` and `eu`.
   */
  region?: string;
  /**
   * Location that counts the tokens of Claude, where `region` does not: not every one that serves it does both. Default: `region`.
   */
  count_tokens_region?: string;
  /**
   * A key for Vertex AI in express mode, in place of project, region and credentials. It reaches Gemini models only.
   */
  api_key?: Secret;
  /**
   * Version of the API in every path; `v1beta1` has what is in preview.
   */
  api_version?: 'v1' | 'v1beta1';
  /**
   * Models deployed to endpoints of the project, by the name requests give them: `endpoints.NAME`. One that is spoken to by `chat` at the usual host needs nothing here: `endpoints.ID`.
   */
  endpoints?: {
    [k: string]: VertexEndpoint;
  };
  embeddings?: VertexEmbeddings;
  /**
   * Which names of `anthropic-beta` are sent on to Claude; the others are left out and reported. Default: those that Vertex is known to take.
   */
  anthropic_betas?: {
    allow?: Betas;
    deny?: Betas;
  };
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators set it; callers never do.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
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
  /**
   * Kind of key; only service accounts are supported.
   */
  type?: 'service_account';
  /**
   * Google Cloud project the account belongs to.
   */
  project_id?: string;
  /**
   * Id of the private key, sent along with what is signed by it.
   */
  private_key_id?: string;
  /**
   * PKCS#8 PEM.
   */
  private_key: Secret;
  /**
   * The service account's address, its name to Google.
   */
  client_email: string;
  /**
   * Number of the account. Not used.
   */
  client_id?: string;
  /**
   * Used only when it is Google's or listed in the server's egress.token_uris.
   */
  token_uri?: string;
  [k: string]: unknown;
}
/**
 * A model deployed to an endpoint of the project.
 */
export interface VertexEndpoint {
  /**
   * Id of the endpoint: the last part of its resource name.
   */
  id: string;
  /**
   * How it is spoken to. `chat`: chat completions, as Model Garden deploys models. `raw_predict`: the same body for a container of one's own. `predict`: the body as an instance, for containers that know nothing else. `gemini`: a tuned Gemini model.
   */
  method?: 'chat' | 'predict' | 'raw_predict' | 'gemini';
  /**
   * Host name of a dedicated endpoint, `dedicatedEndpointDns` of its resource.
   */
  dedicated_dns?: string;
  /**
   * Model name for the body, where the container asks for its own; for a tuned Gemini model the one it was made from. Default: the id.
   */
  model?: string;
  /**
   * Ask for usage on streams (`stream_options.include_usage`). Set to false for a server that refuses stream_options: usage is then counted where it sends it unasked.
   */
  stream_usage?: boolean;
}
/**
 * How requests for embeddings are divided into calls of Vertex AI.
 */
export interface VertexEmbeddings {
  /**
   * Most texts in one `:predict` call. Default: 250, and 1 for gemini-embedding-001, since pages of Google name that limit. Models that embed one content at a time stay at that.
   */
  instances_per_call?: number;
  /**
   * So many calls of one request may be under way at once.
   */
  parallel_calls?: number;
}
/**
 * Which fields of requests pass. A request with any other field gets a 400 that names the field; the gateway never removes one silently. The rules hold for what callers write, not for the parameters of gateway configs in files.
 */
export interface Fields {
  /**
   * `shared_credentials` refuses what reaches beyond the caller's own requests where many callers use one account: `file_id`, `file_ids`, `cached_content`, `container`, `mcp_servers`, `connector_id`, `server_url`, `previous_response_id`, `vector_store_ids`, `data_sources`, `vertex_ai_search`, `vertex_rag_store`, `labels` and `store` wherever a body has them, `conversation`, `prompt.id`, `messages[].audio.id`, and `gs://` addresses outside `media_buckets`.
   */
  preset?: 'shared_credentials';
  /**
   * Fields that are refused: names with dots between them, `[]` for every item of a list, `**.` for any depth. Compared without regard to case and underscores.
   *
   * @minItems 1
   */
  deny?: string[];
  /**
   * The only fields, besides `model`, that a request may have; a path lets everything inside it pass. What `deny` and `preset` refuse stays refused. Default: all.
   *
   * @minItems 1
   */
  allow?: string[];
  /**
   * The only Cloud Storage buckets that `gs://` addresses may name, each with or without a prefix. Default: all; under the preset none.
   *
   * @minItems 1
   */
  media_buckets?: string[];
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
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
  /**
   * Most connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
}
/**
 * OpenAI, or any server that speaks its API: vLLM, Ollama, Groq, Mistral and many more. Azure is azure-openai.
 */
export interface OpenAiEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`.
   */
  slug: string;
  /**
   * OpenAI or a compatible server.
   */
  provider: 'openai';
  /**
   * The API key, sent as a bearer token. Leave it out for a server of your own that asks for none.
   */
  api_key?: Secret;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators set it; callers never do.
   */
  base_url?: string;
  /**
   * The API is right under base_url, which has no version in its path. Without this, /v1 is put after a base_url that has none.
   */
  unversioned?: boolean;
  /**
   * Organization the usage counts for, sent as OpenAI-Organization.
   */
  organization?: string;
  /**
   * Project the usage counts for, sent as OpenAI-Project.
   */
  project?: string;
  headers?: Headers;
  secret_headers?: SecretHeaders;
  /**
   * Ask for usage on streams (`stream_options.include_usage`). Set to false for a server that refuses stream_options: usage is then counted where it sends it unasked.
   */
  stream_usage?: boolean;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
  /**
   * Most connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
}
/**
 * More headers for every request of this entry. Plugins see them: credentials belong under secret_headers.
 */
export interface Headers {
  [k: string]: string;
}
/**
 * More headers that hold credentials, such as those of a proxy in front of the server.
 */
export interface SecretHeaders {
  [k: string]: Secret;
}
/**
 * Azure OpenAI. Requests name a deployment as their model.
 */
export interface AzureOpenAiEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`.
   */
  slug: string;
  /**
   * Azure OpenAI.
   */
  provider: 'azure-openai';
  /**
   * A key of the resource, sent as api-key.
   */
  api_key: Secret;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators set it; callers never do.
   */
  base_url: string;
  /**
   * A dated API version: requests then go to /openai/deployments/NAME. Default: the v1 API, which has no versions.
   */
  api_version?: string;
  /**
   * Deployments by the model name requests use, where the two differ. Other names are taken for a deployment's.
   */
  deployments?: {
    [k: string]: string;
  };
  headers?: Headers;
  secret_headers?: SecretHeaders;
  /**
   * Ask for usage on streams (`stream_options.include_usage`). Set to false for a server that refuses stream_options: usage is then counted where it sends it unasked.
   */
  stream_usage?: boolean;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
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
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
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
/**
 * One key, by its `digest` or as a reference in `key`, and what it may do.
 */
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
   * The key may send a gateway config as JSON in `x-gateway-config`, besides the ids of stored ones. It can name any provider the key may use.
   */
  inline_configs?: boolean;
  fields?: Fields;
  custom_hosts?: CustomHosts;
  /**
   * Gateway config for requests with this key that name none.
   */
  default_config?: string;
}
/**
 * Hosts a caller may choose with `x-gateway-custom-host` for an OpenAI-compatible upstream of its own. Such a request carries the caller's own `Authorization` and no credential of the catalog. None unless set.
 */
export interface CustomHosts {
  /**
   * A name, `*.` before a name for all that end in it, or `*` for any. A port other than the scheme's own is written behind it (`:8443`, `:*`). An empty list allows none.
   *
   * @maxItems 64
   */
  hosts: string[];
  /**
   * Also http and private addresses: callers can then have the gateway reach into your network, as far as `hosts` allows.
   */
  allow_insecure?: boolean;
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
  default_params?: DefaultParams;
  override_params?: OverrideParams;
  drop_params?: DropParams;
  forward_headers?: ForwardHeaders;
  cache?: CacheSettings;
  remote_media?: RemoteMedia;
  metadata?: MetadataRules;
  retry?: Retry;
  circuit_breaker?: CircuitBreaker;
  /**
   * When a stream begins to leave. first_content: with its first content; what breaks later is told in the stream. complete: once all of it is there (within `limits.commit_bytes` and `limits.commit_time`), so that every failure before its end can still go to another target; for callers who prefer a late answer to a broken one.
   */
  commit?: 'first_content' | 'complete';
  deadline?: Duration;
  /**
   * Headers by which replies say how they came about; none unless set. server_timing: `Server-Timing`, where the time went. config_hash: `x-gateway-config-hash`, which changes with the content of the config. explain_id: `x-gateway-explain-id`, under which the admin listener explains the request afterwards; its body is kept for that, and a config that comes with a request may not ask for it.
   *
   * @minItems 1
   */
  reply_headers?: ('server_timing' | 'config_hash' | 'explain_id')[];
  custom_hosts?: CustomHosts;
  request_timeout?: Duration;
  timeouts?: Timeouts;
  /**
   * True: replies hold only OpenAI's own fields. The request header wins. Default true.
   */
  strict_open_ai_compliance?: boolean;
  /**
   * Which models answer on /v1/messages. any: all of them, translated where a model speaks another API. claude: the Claude family only; a request for another model is refused (400).
   */
  messages_route?: 'any' | 'claude';
}
/**
 * How the targets are used.
 */
export interface Strategy {
  /**
   * single: the one target. fallback: the next target when one fails. loadbalance: a target drawn by weight, and another one when it fails before its reply has begun. conditional: the target of the first condition that holds.
   */
  mode: 'single' | 'fallback' | 'loadbalance' | 'conditional';
  /**
   * conditional: asked in order; the first whose `query` holds names the target.
   *
   * @minItems 1
   * @maxItems 64
   */
  conditions?: Condition[];
  /**
   * conditional: name of the target for requests of which no condition holds.
   */
  default?: string;
  sticky?: Sticky;
  /**
   * fallback and loadbalance: statuses that give way to the next target, instead of the kinds of failure that do so by default. 502 covers failed connections, 504 timeouts.
   *
   * @minItems 1
   */
  on_status_codes?: number[];
  /**
   * fallback and loadbalance: kinds of failure that give way to the next target, beside `on_status_codes`. `default` stands for those that do so where nothing is set. The table under Failures says what each kind is.
   *
   * @minItems 1
   */
  on_errors?: (
    | 'default'
    | 'rate_limit'
    | 'overloaded'
    | 'server_error'
    | 'conflict'
    | 'quota'
    | 'connection'
    | 'credentials'
    | 'gateway_full'
    | 'timeout_connect'
    | 'timeout_first_byte'
    | 'timeout_first_content'
    | 'timeout_idle'
    | 'timeout_total'
    | 'stream_error'
    | 'context_length'
    | 'content_filter'
    | 'auth'
    | 'not_found'
    | 'invalid_request'
    | 'unsupported'
  )[];
  /**
   * fallback and loadbalance: kinds of failure that end the chain, whatever `on_errors` and `on_status_codes` say.
   *
   * @minItems 1
   */
  stop_on_errors?: (
    | 'rate_limit'
    | 'overloaded'
    | 'server_error'
    | 'conflict'
    | 'quota'
    | 'connection'
    | 'credentials'
    | 'gateway_full'
    | 'timeout_connect'
    | 'timeout_first_byte'
    | 'timeout_first_content'
    | 'timeout_idle'
    | 'timeout_total'
    | 'stream_error'
    | 'context_length'
    | 'content_filter'
    | 'auth'
    | 'not_found'
    | 'invalid_request'
    | 'unsupported'
  )[];
}
/**
 * A question about the request, and the target of those of which it holds.
 */
export interface Condition {
  query: Query;
  /**
   * Name of the target.
   */
  then: string;
}
/**
 * Fields of the request and what must hold of them, all together: `metadata.KEY`, `params.FIELD` (of the body; dots lead into objects and lists), `headers.NAME`, `model`, `operation` (such as chat.completions), `path`. A bare value means $eq. Operators: $eq $ne $gt $gte $lt $lte $in $nin $regex $exists, and $and $or $not around whole queries.
 */
export interface Query {
  [k: string]: unknown;
}
/**
 * loadbalance: requests with the same values of these fields go to the same target, as long as it is healthy. The choice is a hash by weight: every process makes the same one, and nothing is stored.
 */
export interface Sticky {
  /**
   * `metadata.KEY`, `headers.NAME` or `caller` (the gateway key). Of a request without any of them a target is drawn.
   *
   * @minItems 1
   * @maxItems 8
   */
  hash_fields: string[];
  ttl?: Duration;
}
/**
 * One destination, or a strategy of its own with targets inside.
 */
export interface Target {
  /**
   * What people call it.
   */
  name?: string;
  /**
   * loadbalance: share of the requests this target is drawn for, beside the weights of the others. 0 takes it out of use.
   */
  weight?: number;
  strategy?: Strategy;
  targets?: Targets;
  /**
   * Catalog entry as @slug, or a provider name when just one entry has it.
   */
  provider?: string;
  default_params?: DefaultParams;
  override_params?: OverrideParams;
  drop_params?: DropParams;
  forward_headers?: ForwardHeaders;
  cache?: CacheSettings;
  remote_media?: RemoteMedia;
  retry?: Retry;
  circuit_breaker?: CircuitBreaker;
  /**
   * When a stream begins to leave. first_content: with its first content; what breaks later is told in the stream. complete: once all of it is there (within `limits.commit_bytes` and `limits.commit_time`), so that every failure before its end can still go to another target; for callers who prefer a late answer to a broken one.
   */
  commit?: 'first_content' | 'complete';
  /**
   * Tokens this target's model takes. After a `context_length` failure targets that do not take more than the one that failed are left out; those of the same model always are.
   */
  context_window?: number;
  request_timeout?: Duration;
  timeouts?: Timeouts;
  /**
   * True: replies hold only OpenAI's own fields. The request header wins. Default true.
   */
  strict_open_ai_compliance?: boolean;
  /**
   * Which models answer on /v1/messages. any: all of them, translated where a model speaks another API. claude: the Claude family only; a request for another model is refused (400).
   */
  messages_route?: 'any' | 'claude';
}
/**
 * Fields for requests that leave them out or say null, in the client's own format. Objects merge key by key; what the request says wins.
 */
export interface DefaultParams {
  [k: string]: unknown;
}
/**
 * Fields laid over the request body, in the client's own format, those of the config before those of its targets. Objects merge key by key, arrays replace, null deletes; what one level deletes and a nearer one writes takes the place of the request's whole.
 */
export interface OverrideParams {
  [k: string]: unknown;
}
/**
 * Whole 2xx replies are kept and given again to the same request: same caller, target, flags and body after override_params. Off unless set.
 */
export interface CacheSettings {
  /**
   * exact: the same request, field by field. off: no cache, where the config around has one. (simple is Portkey's word for exact.)
   */
  mode: 'exact' | 'off' | 'simple';
  /**
   * Seconds a reply may be given again.
   */
  max_age?: number;
  /**
   * Who shares replies. key: each gateway key has its own. config: all keys that use this gateway config; choose it only where they may read each other's answers.
   */
  scope?: 'key' | 'config';
}
/**
 * Images and documents that a request names by URL are fetched by the gateway for a target that takes them only as data: Claude on Vertex AI, and images for Anthropic's own API. Without it such a request is refused (400). A target's own setting replaces the one around it whole. Not for configs that come with a request.
 */
export interface RemoteMedia {
  /**
   * Hosts that may be asked, every redirect's too: a name, `*.` before a name for all that end in it, or `*` for any. A port other than the scheme's own is written behind it (`:8443`, `:*`). An empty list allows none, where the config around allows some.
   *
   * @maxItems 64
   */
  hosts: string[];
  max_bytes?: Bytes;
  /**
   * Most parts of one request that are fetched.
   */
  max_items?: number;
  timeout?: Duration;
  /**
   * Also http URLs and private addresses. Whoever may use this config can then have the gateway read from your network what `hosts` allows.
   */
  allow_insecure?: boolean;
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
 * Leaves a target that keeps failing alone for a while. Without it the target's health is only reported. When all targets of a request are left alone, the one whose time ends soonest is tried.
 */
export interface CircuitBreaker {
  /**
   * So many failures within `window` open the breaker.
   */
  failures?: number;
  /**
   * Only where they are at least this share of the requests within `window`.
   */
  failure_rate?: number;
  /**
   * Nothing is decided on fewer requests than this within `window`.
   */
  min_requests?: number;
  window?: Duration;
  cooldown?: Duration;
  /**
   * Statuses that count as failures. 502 covers failed connections and broken streams, 504 timeouts.
   *
   * @minItems 1
   */
  on_status_codes?: number[];
}
/**
 * What `x-gateway-metadata` must hold, and what of it becomes cost labels.
 */
export interface MetadataRules {
  /**
   * Keys every request must have; without one it is refused (400).
   *
   * @minItems 1
   */
  required?: string[];
  /**
   * Values a key may have; another value is refused (400). Keys that are not listed may have any.
   */
  allowed?: {
    /**
     * @minItems 1
     */
    [k: string]: string[];
  };
  /**
   * Vertex AI cost labels. true: all metadata become labels of the same name; a list: these keys; an object: the key and the label's name. Names and values are fitted to Google's rules; `labels` in the body or in override_params win.
   */
  labels?:
    | boolean
    | string[]
    | {
        [k: string]: string;
      };
}
/**
 * Body of POST /v1/chat/completions: OpenAI's chat request and the gateway's extensions. Only the types of known fields are checked; fields that are not known here are kept and sent on. null means: not set.
 */
export interface ChatCompletionsRequest {
  /**
   * `@provider/model`, or a bare model name where the provider is set otherwise.
   */
  model: string;
  /**
   * The conversation, oldest first.
   */
  messages: ChatMessage[];
  /**
   * Most tokens the answer may have, reasoning included. Wins over `max_tokens`.
   */
  max_completion_tokens?: number | null;
  /**
   * Older name of `max_completion_tokens`. Claude needs one of the two.
   */
  max_tokens?: number | null;
  /**
   * Randomness, 0 to 2.
   */
  temperature?: number | null;
  /**
   * Nucleus sampling, 0 to 1.
   */
  top_p?: number | null;
  /**
   * Extension: sample from the k likeliest tokens (Gemini, older Claude models).
   */
  top_k?: number | null;
  /**
   * Number of answers.
   */
  n?: number | null;
  /**
   * Text, or texts, that end the answer.
   */
  stop?: string | string[] | null;
  /**
   * -2 to 2: less repetition of frequent tokens.
   */
  frequency_penalty?: number | null;
  /**
   * -2 to 2: less repetition of tokens that were there at all.
   */
  presence_penalty?: number | null;
  /**
   * Token id to a bias of -100 to 100.
   */
  logit_bias?: {
    [k: string]: number;
  } | null;
  /**
   * Return log probabilities of the tokens.
   */
  logprobs?: boolean | null;
  /**
   * Number of likeliest tokens to return for each position.
   */
  top_logprobs?: number | null;
  /**
   * Same seed, same answer, as far as the provider can.
   */
  seed?: number | null;
  /**
   * Send the answer in chunks.
   */
  stream?: boolean | null;
  /**
   * Only with `stream: true`.
   */
  stream_options?: {
    /**
     * End the stream with a chunk that has the usage.
     */
    include_usage?: boolean | null;
    /**
     * Accepted; the gateway adds no padding of its own.
     */
    include_obfuscation?: boolean | null;
    [k: string]: unknown;
  } | null;
  /**
   * Tools the model may call.
   */
  tools?: ChatTool[] | null;
  tool_choice?: ChatToolChoice;
  /**
   * Allow several calls in one turn.
   */
  parallel_tool_calls?: boolean | null;
  /**
   * Deprecated: use `tools`.
   */
  functions?: ChatFunction[] | null;
  /**
   * Deprecated: use `tool_choice`.
   */
  function_call?:
    | string
    | {
        [k: string]: unknown;
      }
    | null;
  response_format?: ChatResponseFormat;
  /**
   * How much a reasoning model thinks.
   */
  reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
  /**
   * Extension: explicit thinking control; wins over `reasoning_effort`. A budget of 0 switches thinking off.
   */
  thinking?: {
    /**
     * How thinking is switched.
     */
    type: 'enabled' | 'adaptive' | 'disabled' | 'between_tools';
    /**
     * Most tokens for thinking.
     */
    budget_tokens?: number | null;
    /**
     * `summarized` or `omitted`.
     */
    display?: string | null;
    [k: string]: unknown;
  } | null;
  /**
   * `low`, `medium` or `high`.
   */
  verbosity?: string | null;
  /**
   * Kinds of output: `text`, `audio`, `image`.
   */
  modalities?: string[] | null;
  /**
   * Voice and format of sound output.
   */
  audio?: {
    [k: string]: unknown;
  } | null;
  /**
   * Known parts of the answer.
   */
  prediction?: {
    [k: string]: unknown;
  } | null;
  /**
   * Let the model search the web.
   */
  web_search_options?: {
    [k: string]: unknown;
  } | null;
  /**
   * Pairs stored with the request.
   */
  metadata?: {
    [k: string]: unknown;
  } | null;
  /**
   * Keep the answer at the provider.
   */
  store?: boolean | null;
  /**
   * End user, for abuse detection.
   */
  user?: string | null;
  /**
   * End user, hashed.
   */
  safety_identifier?: string | null;
  /**
   * Groups requests that share a prompt.
   */
  prompt_cache_key?: string | null;
  /**
   * How OpenAI caches the prompt: `mode`, `ttl`.
   */
  prompt_cache_options?: {
    [k: string]: unknown;
  } | null;
  /**
   * Deprecated: use `prompt_cache_options`.
   */
  prompt_cache_retention?: string | null;
  /**
   * Moderation of the prompt and the answer: `model`, `policy`.
   */
  moderation?: {
    [k: string]: unknown;
  } | null;
  /**
   * `auto`, `default`, `flex`, `scale` or `priority`.
   */
  service_tier?: string | null;
  /**
   * Extension: labels for cost reports of the cloud platform.
   */
  labels?: {
    [k: string]: unknown;
  } | null;
  /**
   * Extension: Gemini's safety settings.
   */
  safety_settings?:
    | {
        [k: string]: unknown;
      }[]
    | null;
  /**
   * Extension: shape of generated images.
   */
  image_config?: {
    [k: string]: unknown;
  } | null;
  /**
   * Extension: beta features of Anthropic.
   */
  anthropic_beta?: string | string[] | null;
  /**
   * Extension: version of Anthropic's API in the body, as Vertex wants it.
   */
  anthropic_version?: string | null;
  [k: string]: unknown;
}
/**
 * A call the assistant made. `function` and `custom` are the two kinds.
 */
export interface ChatToolCall {
  /**
   * What the tool message answers to.
   */
  id: string;
  /**
   * `function` (also when absent) or `custom`.
   */
  type?: 'function' | 'custom' | null;
  /**
   * Extension of Google's OpenAI API: `google.thought_signature`.
   */
  extra_content?: {
    [k: string]: unknown;
  } | null;
  cache_control?: CacheControl;
  [k: string]: unknown;
}
/**
 * A block of an answer, or a fragment of one as a stream has it: `index` and `delta`.
 */
export interface ChatContentBlock {
  [k: string]: unknown;
}
/**
 * A function the model may call. Some names stand for tools of the provider: `web_search`, `computer_use`.
 */
export interface ChatFunction {
  /**
   * Name of the function.
   */
  name: string;
  /**
   * What it does, for the model.
   */
  description?: string | null;
  /**
   * JSON Schema of the arguments; absent means none.
   */
  parameters?: {
    [k: string]: unknown;
  } | null;
  /**
   * Hold the arguments to the schema.
   */
  strict?: boolean | null;
  cache_control?: CacheControl;
  [k: string]: unknown;
}
/**
 * NAME.test.yaml: Requests to a gateway config, what the upstreams answer, and what should come of it. `gatehouse test` runs them on a clock of their own, without a network. Here `${…}` is plain text.
 */
export interface ConfigTestFile {
  env?: TestEnvironment;
  /**
   * Each case runs by itself, with a gateway of its own.
   *
   * @minItems 1
   * @maxItems 1000
   */
  cases: ConfigTestCase[];
}
/**
 * Values for `${env:NAME}` in the settings. Those not listed here get stand-ins; the environment of the process is not read.
 */
export interface TestEnvironment {
  [k: string]: string;
}
export interface ConfigTestCase {
  /**
   * What should happen, as a sentence.
   */
  name: string;
  /**
   * Id of the gateway config. Default: the file's name without `.test.yaml`. `none`: the request names none.
   */
  config?: string;
  /**
   * Id of the key in keys.yaml that the request is sent with, from an address where it is valid; refused if it has expired by `at`. Default: a key that may do everything.
   */
  key?: string;
  /**
   * Headers of the request.
   */
  headers?: {
    [k: string]: string;
  };
  request: TestRequest;
  /**
   * Random numbers (0 ≤ x < 1) that load balances draw by, one for each draw; the last one stands for all further draws. Default: 0, the first target that has a weight.
   *
   * @minItems 1
   * @maxItems 64
   */
  draws?: number[];
  /**
   * When the request is made. Default: 2026-01-01T00:00:00Z.
   */
  at?: string;
  /**
   * What the upstreams answer, in the order of the calls. A call without an answer fails the case, and so does an answer that is never asked for.
   *
   * @maxItems 100
   */
  upstream?: TestAnswer[];
  expect: TestExpectation;
  /**
   * Further requests to the same gateway, one after the other. Its cache, breakers and plugins keep what they have from the requests before.
   *
   * @minItems 1
   * @maxItems 100
   */
  next?: ConfigTestStep[];
}
/**
 * What the client sends.
 */
export interface TestRequest {
  /**
   * Default: POST.
   */
  method?: 'GET' | 'POST';
  /**
   * Path of the API.
   */
  path?: string;
  /**
   * A value, sent as JSON; or text, sent as it stands.
   */
  body?: unknown;
}
/**
 * What one call to an upstream gets. `answer` is put into the API that the upstream speaks, as a stream if the call asks for one.
 */
export interface TestAnswer {
  /**
   * The text of a complete and successful answer. For embeddings any text will do: the vectors are made up.
   */
  answer?: string;
  /**
   * Default: 200. An error status without a body gets one as the API would write it.
   */
  status?: number;
  /**
   * Headers of the reply.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * A value, sent as JSON; or text, sent as it stands.
   */
  body?: unknown;
  /**
   * Server-sent events: each an object, sent as the data of an event, or text, sent as it stands.
   *
   * @maxItems 1000
   */
  stream?: (
    | {
        [k: string]: unknown;
      }
    | string
  )[];
  delay?: Duration;
  pause?: Duration;
  /**
   * refuse: no connection. reset: the connection ends before a reply. hang: nothing ever comes. cut: the connection ends before the last event, or within the body. garbage: a page of HTML with status 200.
   */
  fault?: 'refuse' | 'reset' | 'hang' | 'cut' | 'garbage';
}
/**
 * What must be so. Whatever is left out may be anything, but an error made by the gateway itself must be expected with `status` or `body`.
 */
export interface TestExpectation {
  /**
   * Which target the reply came from: its path in the config, its name, or the `@slug` it went to.
   */
  target?: string;
  /**
   * How many targets were tried, or which ones, in order. A target that answered from its cache counts, and so does one that the key may not use.
   *
   * @maxItems 64
   */
  attempts?: number | string[];
  /**
   * What was sent. An object: to the last target that was called. A list: to each target that was called, in order. Of retries, the last one.
   */
  outbound?: TestOutbound | TestOutbound[];
  /**
   * Status of the reply to the client.
   */
  status?: number;
  /**
   * Headers that the reply must have; `*` stands for any text. null: there is no such header.
   */
  headers?: {
    [k: string]: string | null;
  };
  /**
   * Body of the reply. An object: these fields must be in it, with these values; null means null or missing. A list must have as many items, each compared in its place. A text must be the whole reply.
   */
  body?: unknown;
  stream?: TestStream;
  /**
   * All parameters that the target could not express, in any order.
   */
  dropped?: string[];
  /**
   * Counters that must have gone up; others may have, too.
   *
   * @minItems 1
   * @maxItems 100
   */
  metrics?: TestMetric[];
}
/**
 * One call to an upstream. Credentials are `[secret]`.
 */
export interface TestOutbound {
  /**
   * Its method.
   */
  method?: string;
  /**
   * Its whole URL; `*` stands for any text.
   */
  url?: string;
  /**
   * Headers that must be among those sent; `*` stands for any text. null: there is no such header.
   */
  headers?: {
    [k: string]: string | null;
  };
  /**
   * These fields must be in it, with these values; null means null or missing. A list must have as many items, each compared in its place.
   */
  body?: unknown;
}
/**
 * The reply as a stream.
 */
export interface TestStream {
  /**
   * All text of the answer, joined.
   */
  text?: string;
  /**
   * Events that must come, in this order; others may come between them. Each lists fields of the event's data.
   *
   * @minItems 1
   * @maxItems 100
   */
  events?: {
    [k: string]: unknown;
  }[];
  /**
   * How it ends. complete: as the API ends a stream. error: with an error event. cut: the connection just ends.
   */
  ends?: 'complete' | 'error' | 'cut';
}
export interface TestMetric {
  /**
   * Name of the counter, as in /metrics.
   */
  name: string;
  /**
   * Labels that it must have; it may have others.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * By how much it went up, all series with these labels together. Default: more than 0.
   */
  value?: number;
}
/**
 * One more request. What it leaves out is as in the case, except for what the upstreams answer.
 */
export interface ConfigTestStep {
  after?: Duration;
  /**
   * Id of the key in keys.yaml that the request is sent with. Default: the case's.
   */
  key?: string;
  /**
   * Headers of the request, in place of all the case's. Default: the case's.
   */
  headers?: {
    [k: string]: string;
  };
  request?: TestRequest;
  /**
   * Random numbers that load balances draw by. Default: the case's, from the first on.
   *
   * @minItems 1
   * @maxItems 64
   */
  draws?: number[];
  /**
   * What the upstreams answer to this request. Default: nothing, so any call fails the case.
   *
   * @maxItems 100
   */
  upstream?: TestAnswer[];
  expect: TestExpectation;
}
