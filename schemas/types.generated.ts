// Generated from schemas/*.json by `node schemas/generate.ts`. Do not edit: change the schemas and run it again.

import type { Secret } from '../src/plugin/index.ts';

/**
 * File with the certificate, PEM, followed by those of the authorities between it and the root. A relative path starts at the settings folder.
 */
export type CertFile = string;
/**
 * File with the private key of the certificate, PEM, not encrypted.
 */
export type KeyFile = string;
/**
 * A size: bytes as a whole number, or text with a unit (B, KiB, MiB, GiB).
 */
export type Bytes = number | string;
/**
 * A time: milliseconds as a whole number, or text with a unit (ms, s, m, h).
 */
export type Duration = number | string;
/**
 * Plugins in order, or changes of the chain that would be there.
 */
export type ChainList = ChainItem[] | ChainChanges;
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
       * Name of this instance in logs and metrics. Default: the plugin's name.
       */
      name?: string;
      /**
       * Options, validated against the plugin's own schema.
       */
      options?: {
        /**
         * A secret of the plugin.
         */
        secret?: Secret;
        [k: string]: unknown;
      };
      /**
       * When your own plugin has a fault. fail: the request fails with 500. skip: the request goes on as if the plugin had done nothing, which the log and the metrics count; only for a plugin with `pure: true` or one whose `reads` only observe. An error that a plugin throws to refuse a request is no fault.
       */
      on_error?: 'fail' | 'skip';
      /**
       * In `chains` of server.yaml: the `plugins` of a config or a target cannot drop this entry. A list that does not name it runs it before the next plugin of the chain that it has, at the latest before `route` or `send`.
       */
      always?: boolean;
    };
/**
 * A module by its path or package name, or with its hash.
 */
export type PluginModule =
  | string
  | {
      /**
       * A path relative to this file, or a package name.
       */
      module: string;
      /**
       * The hash of the file and of all files that it imports by a path, as `gatehouse plugin hash` prints it. Settings with another hash are refused. Default: the files are not checked.
       */
      integrity?: string;
      /**
       * The name of its plugin in these settings, for a module with one plugin. Default: the plugin's own.
       */
      name?: string;
    };
/**
 * Guards, in order: checks of the texts of requests and replies, for every API. Default: none.
 *
 * @minItems 1
 * @maxItems 32
 */
export type Guards = Guard[];
export type CatalogEntry =
  VertexEntry | AnthropicEntry | GoogleAiStudioEntry | OpenAiEntry | AzureOpenAiEntry | SimulatorEntry;
/**
 * Fields beyond OpenAI's API that the server gets. `keep`: all. `drop`: none; each is a reported loss, `thinking` becomes `reasoning_effort` where the model is known to have it, and functions that ask for the provider's own tool by their name (`web_search`, `computer_use`) are treated as at OpenAI. A list: these fields alone. Fields that Gatehouse does not know are always sent. Default: `drop` at api.openai.com and Azure, `keep` elsewhere.
 */
export type ExtensionSetting = 'keep' | 'drop' | readonly string[];
/**
 * Names of betas.
 */
export type Betas = string[];
/**
 * `max_tokens` for Claude in requests that name no limit, which its API demands. model: the largest answer of the model that fits into its context window (4096 for an unknown model). A number: that many tokens. refuse: such a request is a 400. A thinking budget comes on top where it would not fit. The setting of a gateway config or target takes precedence.
 */
export type DefaultMaxTokens = 'model' | 'refuse' | number;
/**
 * Models that this entry serves; `*` stands for any text. Default: all.
 *
 * @minItems 1
 */
export type Models = string[];
/**
 * Models that may begin an answer with their chain of thought in `<think>…</think>`; `*` stands for any text, and case does not count. The gateway takes it out of the answer: strict clients do not get it, other clients get it as in the API of its other models. `[]`: none. `["*"]`: all models of the entry. Default: the names of models that are known for it.
 *
 * @maxItems 100
 */
export type InlineThinking = string[];
/**
 * Ids of objects in the vendor's account, which all keys share: files, containers of code execution, skills, caches, vector stores and other data stores, responses, conversations, stored prompts, voices. refuse: a request with such an id gets a 400, and `gs://` addresses pass only in `media_buckets`. A list: ids of these kinds pass. Files and responses that the gateway keeps for the key always pass, as do all ids in requests with the caller's own token.
 *
 * @minItems 1
 */
export type VendorObjects =
  | 'pass'
  | 'refuse'
  | readonly (
      'files' | 'containers' | 'skills' | 'caches' | 'stores' | 'responses' | 'conversations' | 'prompts' | 'voices'
    )[];
/**
 * The API in which requests are sent. chat: chat completions. responses: the Responses API. auto: at api.openai.com and Azure the Responses API for its own clients and for tools of models from gpt-5.4 on, which refuse tools with reasoning on chat completions; otherwise, and at all other servers, chat completions.
 */
export type ApiChoice = 'auto' | 'chat' | 'responses';
/**
 * Requests to the Responses API that name a response, an item or a conversation that the gateway does not keep for their key (`previous_response_id`, `item_reference`, `conversation`). refuse: they get a 400, because the keys of an entry share the vendor's account, and a key that knows the id of another key's response could continue it. pass: the upstream gets the id, which it may have. Requests with the caller's own token always pass.
 */
export type UnknownIds = 'refuse' | 'pass';
/**
 * Budgets. A request must fit into each of them, and into those of the team and the organization above. Default: none.
 *
 * @minItems 1
 * @maxItems 5
 */
export type Budgets = Budget[];
/**
 * Fields removed from the request before it is sent, after override_params; dots lead into objects. A missing field is not an error.
 *
 * @minItems 1
 */
export type DropParams = string[];
/**
 * Request headers forwarded to the upstream unchanged, besides those that the gateway writes itself. Credentials, cookies and connection headers cannot be forwarded. A config sent with a request also cannot forward headers that steer an upstream, such as openai-organization, x-forwarded-* or x-http-method-override.
 *
 * @minItems 1
 * @maxItems 16
 */
export type ForwardHeaders = string[];
/**
 * A time: seconds as a whole number, or text with a unit (s, m, h).
 */
export type Seconds = number | string;
/**
 * The targets, in order.
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
  prompt: PromptFile;
  prices: PricesFile;
  teams: TeamsFile;
  'chat-completions': ChatCompletionsRequest;
  test: ConfigTestFile;
}
/**
 * configs/server.yaml: the listeners, the limits, and the plugin chains of all requests.
 */
export interface ServerFile {
  listen?: Listen;
  status?: Listen;
  tls?: Tls;
  /**
   * Networks of the proxies in front of the gateway, in CIDR notation. The gateway takes the client address from X-Forwarded-For and Forwarded only when a request comes from one of these. List proxies only: any client in these networks can forge its address.
   */
  trusted_proxies?: string[];
  limits?: Limits;
  deadline?: Duration;
  drain?: Drain;
  timeouts?: Timeouts;
  /**
   * Prefixes of the gateway's own headers. `gateway` stands for `x-gateway-`: the header `x-gateway-config` then selects the config. Replies use the prefix of their request, or the first prefix if the request used none.
   *
   * @minItems 1
   */
  header_prefixes?: string[];
  /**
   * Gateway config (file name in configs/gateway/ without .yaml) for requests that name none and whose key has no default.
   */
  default_config?: string;
  chains?: Chains;
  /**
   * Modules with your own plugins: a path relative to this file, or a package name. Each module default-exports one plugin made with definePlugin, or an array of them.
   */
  plugins?: PluginModule[];
  cache?: CacheStore;
  reload?: Reload;
  egress?: Egress;
  telemetry?: Telemetry;
  admin?: Admin;
  alerts?: Alerts;
  state?: State;
  files?: Files;
  guards?: Guards;
  /**
   * Replies tell decisions of guards as Portkey does: the status 446 for a refusal, 246 where a guard that observes found something, and `hook_results` in bodies of JSON.
   */
  portkey_statuses?: boolean;
  responses?: ResponsesSettings;
  websockets?: WebSockets;
}
export interface Listen {
  /**
   * Address to bind. Default: the environment variable GATEHOUSE_HOST; without it 127.0.0.1, which is reachable from this machine only.
   */
  host?: string;
  /**
   * TCP port; 0 selects a free one.
   */
  port?: number;
}
/**
 * TLS on the listener for applications: version 1.2 or later, HTTP/1.1. The files are read again when they change; new connections get the new certificate, open ones stay. Default: plain HTTP, for a proxy in front that ends TLS.
 */
export interface Tls {
  cert: CertFile;
  key: KeyFile;
  /**
   * File with the certificate authorities of clients, PEM. Every request must then come over a connection with a certificate that one of them signed, besides its gateway key; see `client_certificate` of keys. Any other request gets a 401 (`invalid_client_certificate`). Default: the gateway asks for no certificate.
   */
  client_ca?: string;
}
/**
 * Limits for requests, connections and memory. A request that exceeds a limit is refused with an error that names the limit.
 */
export interface Limits {
  body?: Bytes;
  form?: Bytes;
  form_held?: Bytes;
  form_idle_time?: Duration;
  /**
   * Deepest nesting of a request body.
   */
  json_depth?: number;
  /**
   * Maximum number of keys in one object of a request body, at any depth.
   */
  json_keys?: number;
  /**
   * Maximum number of items in one list of a request body, at any depth.
   */
  json_items?: number;
  header?: Bytes;
  reply?: Bytes;
  hold_bytes?: Bytes;
  hold_time?: Duration;
  inline_config?: Bytes;
  /**
   * Maximum number of connections to one upstream host, unless the catalog entry sets its own. Default: the value of `in_flight`, so that no admitted request waits for another's connection. With fewer, requests queue for at most `timeouts.connect`, with the keys served in turn; then they fail with `pool_exhausted` (503).
   */
  connections?: number;
  /**
   * Maximum number of concurrent requests, including running streams. A further request is refused immediately (503, `retry-after`).
   */
  in_flight?: number;
  /**
   * Maximum number of requests with a body over 1 MB that wait to be read, checked or translated; one key may have a quarter of them. A further one is refused (503, `retry-after`).
   */
  large_bodies?: number;
  /**
   * Once three quarters of `in_flight` are in use, a key with this many concurrent requests gets 503 `busy`. Below three quarters there is no limit per key. Callers without a key count as one key. Default: a quarter of `in_flight`.
   */
  in_flight_per_key?: number;
  in_flight_bytes?: Bytes;
  in_flight_bytes_per_key?: Bytes;
  /**
   * Maximum number of concurrent requests on one connection (HTTP pipelining). Further ones wait on the connection and are served in order.
   */
  pipelined?: number;
  /**
   * A number per second, minute or hour.
   */
  unauthenticated?: string;
  header_time?: Duration;
  body_time?: Duration;
  plugin_time?: Duration;
  commit_bytes?: Bytes;
  commit_time?: Duration;
}
/**
 * Shutdown at SIGTERM: /readyz fails immediately; for `delay` requests are still accepted; then running replies have `timeout` to end. Streams cut off by the timeout get an error event. A second signal ends the process immediately. Ctrl-C (SIGINT) skips the delay.
 */
export interface Drain {
  delay?: Duration;
  timeout?: Duration;
}
/**
 * Timeouts for upstreams. The error names the timeout that passed. Settings take precedence in this order: config target, config, catalog entry, server.
 */
export interface Timeouts {
  connect?: Duration;
  first_byte?: Duration;
  first_content?: Duration;
  idle?: Duration;
  total?: Duration;
}
/**
 * The plugins that a request passes, in order, or changes of the default chain. Omit a chain to keep its default.
 */
export interface Chains {
  entry?: ChainList;
  request?: ChainList;
  attempt?: ChainList;
}
/**
 * Changes of a chain, which keep the rest of it: `remove` first, then `add`, then `options`.
 */
export interface ChainChanges {
  /**
   * Plugins that the chain gets, each with its place.
   */
  add?: AddedItem[];
  /**
   * Names of entries that the chain loses. An entry with `always: true` cannot be removed.
   */
  remove?: string[];
  /**
   * Options of entries by their names. An option that is not named here stays as it is.
   */
  options?: {
    [k: string]: {
      /**
       * A secret of the plugin.
       */
      secret?: Secret;
      [k: string]: unknown;
    };
  };
}
/**
 * A plugin and its place: before or after another entry of the chain.
 */
export interface AddedItem {
  /**
   * Name of the plugin.
   */
  plugin: string;
  /**
   * Name of the entry that it runs before. Entries with `always: true` directly in front of that one run after it.
   */
  before?: string;
  /**
   * Name of the entry that it runs after.
   */
  after?: string;
  /**
   * Name of this instance in logs and metrics. Default: the plugin's name.
   */
  name?: string;
  /**
   * Options, validated against the plugin's own schema.
   */
  options?: {
    /**
     * A secret of the plugin.
     */
    secret?: Secret;
    [k: string]: unknown;
  };
  /**
   * When your own plugin has a fault. fail: the request fails with 500. skip: the request goes on as if the plugin had done nothing, which the log and the metrics count; only for a plugin with `pure: true` or one whose `reads` only observe. An error that a plugin throws to refuse a request is no fault.
   */
  on_error?: 'fail' | 'skip';
  /**
   * In `chains` of server.yaml: the `plugins` of a config or a target cannot drop this entry. A list that does not name it runs it before the next plugin of the chain that it has, at the latest before `route` or `send`.
   */
  always?: boolean;
}
/**
 * Memory of the reply cache, in each process. Gateway configs with `cache` use it.
 */
export interface CacheStore {
  max_bytes?: Bytes;
  max_entry_bytes?: Bytes;
  semantic?: SemanticStore;
}
/**
 * Memory for the texts and vectors of `cache: { mode: semantic }`, beside `max_bytes`. A scope is a gateway key, or a config with `scope: config`. The least recently used text is evicted.
 */
export interface SemanticStore {
  max_bytes?: Bytes;
  scope_bytes?: Bytes;
  /**
   * Maximum number of texts of one scope. A look-up compares at most these: some milliseconds for 1,000 vectors of 1,536 numbers.
   */
  scope_entries?: number;
}
/**
 * When the settings are reloaded. SIGHUP always reloads them.
 */
export interface Reload {
  /**
   * Reload the settings when one of their files changes, including the files of `${file:…}`.
   */
  watch?: boolean;
  debounce?: Duration;
}
/**
 * How the gateway reaches upstreams, and addresses that it may connect to besides the hosts of the catalog. Special-purpose addresses are refused unless the catalog entry sets allow_insecure.
 */
export interface Egress {
  /**
   * The proxy for requests to upstreams, token endpoints and media: its URL, `env` for the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or `none`. The proxy resolves the names of upstreams, so the egress guard checks names and literal addresses only.
   */
  proxy?: string;
  /**
   * `USER:PASSWORD` for the proxy that `proxy` names. With `proxy: env` they are in the URLs of the variables.
   */
  proxy_credentials?: Secret;
  /**
   * Hosts that the gateway connects to itself: names with their subdomains, addresses, networks in CIDR notation, each with an optional `:PORT` (not a network). In place of NO_PROXY, for a proxy that `proxy` names.
   *
   * @maxItems 256
   */
  no_proxy?: string[];
  /**
   * File with certificate authorities, PEM, that upstreams and an https proxy may use besides the public ones. A relative path starts at the settings folder.
   */
  ca?: string;
  /**
   * Token endpoints that service accounts and federated credentials may name besides Google's own.
   */
  token_uris?: string[];
}
/**
 * Logs, traces and metrics of requests.
 */
export interface Telemetry {
  records?: RecordFiles;
  /**
   * JSON lines on stdout.
   */
  log?: {
    /**
     * Lowest severity that is written.
     */
    level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
    /**
     * Access lines, one per request at the end of its reply: all, failures only, or none.
     */
    access?: 'all' | 'errors' | 'off';
  };
  /**
   * Labels of metrics, and the plugins that have metrics of their own.
   */
  metrics?: {
    /**
     * Plugins whose time and errors are metrics: `external` ones, `all` (with the built-in ones, except `config` and `route`, which run the others; each request then pays for measuring its plugins), or none (`off`).
     */
    plugins?: 'external' | 'all' | 'off';
    /**
     * Keys of the requests' metadata that are labels of the counters with `key_id`: `team` becomes `metadata_team`. Values of `metadata` in keys.yaml are always labels; of the values that callers write, the first 100 of each key are, and further or longer ones (over 64 characters) count as `__other__`.
     *
     * @maxItems 5
     */
    metadata?: string[];
  };
  /**
   * true: records have keyed hashes of at most 8 prefixes of each prompt, by which the console says why a provider's cache had nothing of it. The hashes are made after the reply, with a key of `state.encryption_keys`, else of the process; a text is never kept. They take at most 1 % of the CPU time of the process: prompts beyond that have none.
   */
  prefix_hashes?: boolean;
  traces?: Traces;
  /**
   * Names of the GenAI conventions in spans and in metrics over OTLP: the latest, or `both` these and those of v1.41, which many dashboards use.
   */
  semconv?: 'latest' | 'both';
}
/**
 * Files of records: one JSON line for each request when its reply has ended, as the admin listener shows it. Default: no files.
 */
export interface RecordFiles {
  /**
   * Absolute path of the folder. It may be shared: each process writes files of its own.
   */
  dir: string;
  max_file_bytes?: Bytes;
  max_bytes?: Bytes;
  max_age?: Duration;
}
/**
 * OpenTelemetry traces. OTEL_* variables take precedence, and they alone enable metrics and logs over OTLP. Without any, the SDK is not loaded.
 */
export interface Traces {
  /**
   * OTLP endpoint for traces, full URL; for grpc without a path.
   */
  endpoint?: string;
  /**
   * Encoding and transport.
   */
  protocol?: 'http/protobuf' | 'http/json' | 'grpc';
  /**
   * service.name of the spans.
   */
  service_name?: string;
}
/**
 * The listener for operators, which shows the outcome of single requests. It needs no token on loopback; on any other address it does not start without one.
 */
export interface Admin {
  /**
   * false: there is no admin listener, and no records are kept.
   */
  enabled?: boolean;
  /**
   * Address to bind.
   */
  host?: string;
  /**
   * TCP port; 0 selects a free one.
   */
  port?: number;
  /**
   * Token that requests must send as `Authorization: Bearer`.
   */
  token?: Secret;
  tls?: AdminTls;
  /**
   * Rights in the admin API of requests with `token`, and of requests from loopback while there is no `token`. Tokens of the API have roles of their own.
   */
  role?: 'viewer' | 'operator' | 'admin';
  /**
   * Names accepted in the Host header, beside `localhost`, loopback addresses and `host`. Requests under other names are refused: a website could otherwise reach the listener through a browser (DNS rebinding).
   *
   * @minItems 1
   * @maxItems 16
   */
  hosts?: string[];
  /**
   * Number of latest requests that each worker keeps records of.
   */
  records?: number;
  /**
   * Whether requests with `token`, and requests from loopback while there is no `token`, may read the texts of requests. Tokens of the API have a right of their own. Each read is in the audit.
   */
  content?: boolean;
  /**
   * Where browsers reach the console through a proxy. With https, people may sign in although the proxy sends plain HTTP.
   */
  public_url?: string;
  /**
   * Requests that can be explained afterwards. asked: those whose gateway config sets `explain_id` in `reply_headers`. Each worker keeps the latest 100 for this, with their bodies, up to 1 MiB each.
   */
  explain?: 'asked' | 'all' | 'none';
}
/**
 * TLS on the listener for operators, as `tls` has it for applications. Default: plain HTTP.
 */
export interface AdminTls {
  cert: CertFile;
  key: KeyFile;
}
/**
 * Alerts to people: budgets, spending, prices, keys. docs/operate/alerts.md describes the events.
 */
export interface Alerts {
  /**
   * Addresses that get alerts. Default: none; alerts are then in the log and in the metrics.
   *
   * @maxItems 10
   */
  webhooks?: AlertWebhook[];
  anomalies?: AlertAnomalies;
  /**
   * Days before the end of a key at which an alert is raised.
   *
   * @maxItems 10
   */
  key_expiry?: number[];
}
/**
 * An address that gets alerts as signed POST requests.
 */
export interface AlertWebhook {
  /**
   * Name of the webhook in logs and metrics.
   */
  id: string;
  /**
   * Its address, https unless `allow_insecure` is set. Addresses of many services have a secret in their path, so the gateway shows it nowhere.
   */
  url: Secret;
  /**
   * The key of the signatures: `whsec_` and the base64 of 24 to 64 random bytes.
   */
  secret: Secret;
  /**
   * Kinds of alerts. A webhook with `budget` also gets `exhausted`. Default: all.
   *
   * @minItems 1
   */
  kinds?: (
    | 'budget'
    | 'exhausted'
    | 'anomaly'
    | 'unknown_price'
    | 'lost_lease'
    | 'key_expiry'
    | 'backup_failure'
    | 'rolled_back'
  )[];
  /**
   * Only alerts about these organizations, teams and keys, and about what is inside them; alerts about none, such as unknown prices, are left out then. Default: all alerts.
   *
   * @minItems 1
   * @maxItems 1000
   */
  nodes?: string[];
  /**
   * Allows http and addresses of the own network. Link-local addresses and metadata servers stay refused.
   */
  allow_insecure?: boolean;
}
/**
 * When the spending of an organization, a team or a key in one hour is an anomaly. It needs the ledger of a state store.
 */
export interface AlertAnomalies {
  /**
   * The hour spent at least so many times the median of the hours of the days before in which something was spent.
   */
  factor?: number;
  /**
   * The hour spent at least this much.
   */
  floor?: string;
  /**
   * Days before, with at least 24 hours in which something was spent.
   */
  days?: number;
}
/**
 * The state store: objects that change while the gateway serves, what budgets have spent, the ledger and the audit. Default: the gateway opens no store. docs/operate/state.md describes it.
 */
export interface State {
  store: StateStoreSettings;
  /**
   * Absolute path of the folder of what belongs to this gateway alone: its spool, the snapshots of the store, the bootstrap token. On a local disk; two gateways never share it. Default: `store.dir`.
   */
  dir?: string;
  /**
   * Kinds of objects that the store may hold. The same id in a file and in the store refuses the settings. A kind that is not listed, and of which the store has objects, does so too.
   */
  owns?: (
    | 'keys'
    | 'teams'
    | 'users'
    | 'organizations'
    | 'budgets'
    | 'limits'
    | 'alerts'
    | 'prices'
    | 'providers'
    | 'prompts'
    | 'configs'
  )[];
  /**
   * The keys that seal secrets in the store, as `NAME:BASE64` of 32 random bytes, separated by commas. The first one seals, the others only open. Default: the store takes no secrets.
   */
  encryption_keys?: Secret;
  /**
   * Secrets of the digests `hmac:NAME:…` of keys in the store, as `NAME:BASE64` of 32 random bytes, separated by commas. Without its pepper, such a key is not valid. Default: none; digests are SHA-256.
   */
  peppers?: Secret;
  /**
   * IANA time zone of the days and months of budgets that name none, in files and in the store.
   */
  time_zone?: string;
  backup?: StateBackup;
  when_down?: StateWhenDown;
  /**
   * Names of metadata that rows of the ledger and their sums have, so that `by=label.NAME` of the admin API sums by them. Values of callers count with at most 128 characters; each combination of values is a sum of its own. Default: none.
   *
   * @maxItems 3
   */
  ledger_labels?: string[];
  retention?: StateRetention;
  records?: StateRecords;
  shared?: StateShared;
}
/**
 * Where the state is kept.
 */
export interface StateStoreSettings {
  /**
   * `sqlite` keeps the state in files of `dir`, and a thread of the process (with --workers: of the primary) writes them. `memory` keeps it in a private temporary folder that is removed when the process exits, for trials. `postgres` keeps it in a PostgreSQL database (14 or later), which several gateways share; it needs `state.dir` and the package `pg`.
   */
  type: 'sqlite' | 'memory' | 'postgres';
  /**
   * For `sqlite`: absolute path of the folder of the store, on a local disk. One gateway uses it at a time.
   */
  dir?: string;
  /**
   * For `postgres`: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, without parameters. The connection has TLS with a verified certificate, unless the host is a loopback address.
   */
  url?: Secret;
  /**
   * For `postgres`: certificates (PEM) of the authorities that may sign the server's certificate. Default: those of Node.
   */
  ca?: string;
  /**
   * For `postgres`: the schema of the tables. It is created if it does not exist.
   */
  schema?: string;
  /**
   * For `postgres`: most connections for counters and objects. There are five others: two for the ledger, two for long reads, one to listen.
   */
  connections?: number;
  /**
   * For `postgres`: false keeps no connection to listen to writes, as behind pgbouncer in transaction mode. Then other gateways know a write within 1.2 s.
   */
  listen?: boolean;
}
/**
 * Copies of the store in files, each in a folder of its own that is named by its time. `gatehouse state restore` puts one back. Default: none.
 */
export interface StateBackup {
  /**
   * Absolute path of the folder of the copies; another disk than that of the store.
   */
  dir: string;
  every?: Duration;
  /**
   * Copies that are kept. Older ones are removed.
   */
  keep?: number;
}
/**
 * What happens while the store does not answer.
 */
export interface StateWhenDown {
  /**
   * `snapshot`: the store's keys stay valid for `max_age`; a start takes them from the last snapshot on disk. `refuse`: keys of the store are refused with 503.
   */
  keys?: 'snapshot' | 'refuse';
  max_age?: Duration;
  /**
   * What becomes of a request whose budgets cannot be counted any more, because the lease of its process has ended.
   */
  budgets?: 'refuse' | 'allow';
}
/**
 * How long the store keeps what grows with each request.
 */
export interface StateRetention {
  /**
   * Days for which rows of the ledger are kept; then their sums by day are. Whole days (UTC) are dropped.
   */
  ledger_days?: number;
  /**
   * Days for which sums by hour are kept; then sums by day are.
   */
  hour_days?: number;
  /**
   * Days for which sums by day are kept after the rows of their day were dropped.
   */
  sum_days?: number;
  /**
   * Days for which rows of the audit are kept. A row of the audit names the last one that was dropped, and its hash.
   */
  audit_days?: number;
}
/**
 * Keeps the records of requests on disk, in the folder of the store, so that lists of requests reach back over a restart. No request waits for the disk: records that it cannot take are dropped and counted in `gatehouse_records_dropped_total`. Default: the latest ones are in memory.
 */
export interface StateRecords {
  /**
   * Days after which they are removed.
   */
  days?: number;
  max_bytes?: Bytes;
}
/**
 * Valkey or Redis, where several gateways share what may be lost: limits of rates and of concurrency, cached replies, kept responses, open circuit breakers. Needs the package `@redis/client`, and Valkey 7.2 or Redis 6 at least. Requests go on while it is away. Default: each gateway is alone. docs/operate/shared.md describes it.
 */
export interface StateShared {
  /**
   * The engine; both speak the same protocol.
   */
  type: 'valkey' | 'redis';
  /**
   * Address of one server, as `rediss://USER:PASSWORD@HOST:PORT/DATABASE`. The certificate is verified unless the host is a loopback address. `redis://` has no TLS.
   */
  url: Secret;
  /**
   * In front of the names of all keys and channels. Gateways with the same prefix share; those of another fleet on the same server need another.
   */
  prefix?: string;
}
/**
 * Files that callers upload to `/v1/files` and name in later requests. They are in a folder (`dir`), in Cloud Storage (`gcs`) or in S3 (`s3`). Default: the gateway stores no files.
 */
export interface Files {
  /**
   * Absolute path of the folder for the files. All workers, and all gateways with the same keys, may share it.
   */
  dir?: string;
  gcs?: FilesGcs;
  s3?: FilesS3;
  /**
   * Address in front of a file's id, in references of the form `{url}/{id}`. Default: requests name files by their id only.
   */
  url?: string;
  max_file_bytes?: Bytes;
  max_total_bytes?: Bytes;
  /**
   * Maximum number of files of one key.
   */
  max_files?: number;
  ttl?: Duration;
  inline_bytes?: Bytes;
  idle_time?: Duration;
  /**
   * Maximum number of concurrent uploads of a process. Once half of them are in use, one key may have a quarter.
   */
  uploads?: number;
  /**
   * Maximum number of uploads of one key that have begun and not ended. One in several requests (Google's resumable form) ends an hour after its last byte, and a day after it began.
   */
  unfinished_uploads?: number;
}
/**
 * Files in a bucket of Google Cloud Storage. Gemini models on Vertex AI read them there, whatever their size.
 */
export interface FilesGcs {
  /**
   * Catalog entry of Vertex AI whose credentials store the files; it needs `roles/storage.objectUser` on the bucket.
   */
  provider: string;
  /**
   * Name of the bucket. Give it to this gateway alone: requests may name any `gs://` address that the credentials can read, see `fields.media_buckets`.
   */
  bucket: string;
  /**
   * Start of the names of all objects. Default: none.
   */
  prefix?: string;
  /**
   * Address of the storage API, for a private endpoint.
   */
  base_url?: string;
  /**
   * Allow http and private addresses in `base_url`.
   */
  allow_insecure?: boolean;
}
/**
 * Files in a bucket of Amazon S3, or of a store with its API such as MinIO, Ceph and R2. Requests carry them inline.
 */
export interface FilesS3 {
  /**
   * Name of the bucket. Give it to this gateway alone.
   */
  bucket: string;
  /**
   * Region of the bucket; stores without regions often take `us-east-1` or `auto`.
   */
  region: string;
  /**
   * Address of the store. Default: that of Amazon S3 in `region`.
   */
  endpoint?: string;
  /**
   * Write the bucket into the path (`https://HOST/BUCKET`) and not into the host (`https://BUCKET.HOST`). Default: true with `endpoint`, else false.
   */
  path_style?: boolean;
  /**
   * Start of the names of all objects. Default: none.
   */
  prefix?: string;
  /**
   * `AKIA…`: the id of an access key, without spaces.
   */
  access_key_id: Secret;
  /**
   * `SECRET` of the access key, without spaces.
   */
  secret_access_key: Secret;
  /**
   * `TOKEN` of temporary credentials, without spaces. Their agent may write all three into files: the gateway reads changed files again. Default: the access key is permanent.
   */
  session_token?: Secret;
  /**
   * Allow http and private addresses in `endpoint`.
   */
  allow_insecure?: boolean;
}
/**
 * One guard.
 */
export interface Guard {
  /**
   * Name of the guard in records, logs, metrics and errors.
   */
  name: string;
  /**
   * The check. docs/plugins/guards.md describes each one and its options.
   */
  check:
    | 'regex'
    | 'words'
    | 'pii'
    | 'secrets'
    | 'injection'
    | 'json_schema'
    | 'text'
    | 'models'
    | 'metadata'
    | 'jwt'
    | 'webhook';
  /**
   * input: the request. output: the reply.
   *
   * @minItems 1
   */
  on?: ('input' | 'output')[];
  /**
   * deny: a match refuses the request or the reply. mask: a match is replaced. observe: a match is counted; no byte changes or waits. Default: deny; for injection observe.
   */
  action?: 'deny' | 'mask' | 'observe';
  /**
   * When the check fails or runs out of time. deny: the request is refused. allow: it goes on, which the record shows as skipped. No effect with `action: observe`.
   */
  on_error?: 'deny' | 'allow';
  /**
   * When the guard cannot read a part: an uploaded file, pictures, sound and files of a message, a reply of bytes. No effect with `action: observe`.
   */
  on_unseen?: 'deny' | 'allow';
  /**
   * Message of the refusal. Default: one with the name of the guard.
   */
  message?: string;
  only?: GuardOnly;
  hold?: GuardHold;
  /**
   * Options of the check. Default: none.
   */
  options?: {
    /**
     * Of the check webhook: the key of its signatures.
     */
    secret?: Secret;
    [k: string]: unknown;
  };
}
/**
 * Narrows the guard. Each key narrows it further. Default: all texts of all requests; with `action: mask` no thinking of a request.
 */
export interface GuardOnly {
  /**
   * Texts of a request by who wrote them.
   *
   * @minItems 1
   */
  roles?: ('system' | 'user' | 'assistant' | 'tool')[];
  /**
   * The last text of a request alone. Default: all.
   */
  last?: true;
  /**
   * Kinds of texts. `tool_result` of a reply is that of a tool which the vendor runs, `file_name` and `definition` (of tools, and of the form of the answer) are of requests, `error` is the message of a failed upstream.
   *
   * @minItems 1
   */
  kinds?: ('text' | 'thinking' | 'refusal' | 'tool_arguments' | 'tool_result' | 'file_name' | 'definition' | 'error')[];
  /**
   * Operations, by name or pattern with `*`.
   *
   * @minItems 1
   * @maxItems 50
   */
  operations?: string[];
  /**
   * Models as the request names them, by name or pattern with `*`.
   *
   * @minItems 1
   * @maxItems 200
   */
  models?: string[];
  metadata?: GuardMetadata;
}
/**
 * Requests with one of these values for each key of metadata.
 */
export interface GuardMetadata {
  /**
   * The values.
   *
   * @minItems 1
   * @maxItems 200
   */
  [k: string]: string[];
}
/**
 * How much of a streamed reply may wait for a decision. A check that needs the whole text, such as json_schema or a pattern without a longest match, always holds the whole reply. Default: as much as the longest match.
 */
export interface GuardHold {
  /**
   * all: nothing of a stream leaves before its end, so that a refusal has its status. The client waits for the whole answer.
   */
  mode?: 'window' | 'all';
  /**
   * Most undecided characters. Beyond it the reply ends with an error. Default: 65536; with `all` 16 MiB.
   */
  bytes?: number;
  time?: Duration;
}
/**
 * Responses of POST /v1/responses that later requests of the same key continue (`store`, `previous_response_id`). They are in the memory of the process, with workers in that of the primary.
 */
export interface ResponsesSettings {
  /**
   * False: none is kept, and a request that continues another is refused, unless its catalog entry has `unknown_ids: pass`.
   */
  store?: boolean;
  max_bytes?: Bytes;
  ttl?: Duration;
}
/**
 * WebSockets at `/v1/responses`, in which each turn is a request with the limits, the record and the deadline of any other. The limits apply to each process.
 */
export interface WebSockets {
  /**
   * False: a WebSocket is refused with 426, after which clients send requests over HTTP.
   */
  enabled?: boolean;
  /**
   * Origins of web pages that may open a socket, besides the gateway's own. Clients that are no browsers send no origin.
   */
  origins?: string[];
  /**
   * Open sockets of one key. A further one gets 503 `busy`.
   */
  per_key?: number;
  frame_bytes?: Bytes;
  kept_bytes?: Bytes;
  held_bytes?: Bytes;
  /**
   * Turns of one socket. The next one gets `websocket_connection_limit_reached`, and the socket closes.
   */
  turns?: number;
  idle_time?: Duration;
  lifetime?: Duration;
}
/**
 * configs/catalog.yaml: the providers that requests may be sent to, with their credentials. Applications name them as @slug.
 */
export interface CatalogFile {
  /**
   * The catalog entries.
   */
  providers: CatalogEntry[];
  aliases?: Aliases;
  /**
   * Credentials that several entries share, by name. An entry takes one with `credentials: NAME` in place of its own field. Default: none.
   */
  credentials?: {
    [k: string]: SharedCredentials;
  };
}
/**
 * Google Vertex AI: Gemini, Claude, Llama, Mistral and other models of its publishers, and models deployed to your own endpoints. Give a region and one source of credentials (`service_account`, `credentials` or `credentials_json`), a region and a project for callers who bring their own OAuth token, or an `api_key` alone.
 */
export interface VertexEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`. Default: the name of the provider, such as `vertex-ai`, which only one entry can have.
   */
  slug: string;
  /**
   * Vertex AI.
   */
  provider: 'vertex-ai';
  /**
   * The service account's JSON key: a reference to the file, or the object itself. The account needs the permission aiplatform.endpoints.predict.
   */
  service_account?: Secret | ServiceAccountKey;
  /**
   * Source of the machine's own Google credentials, instead of a key. `application-default`: the places that Google's tools use (the file in GOOGLE_APPLICATION_CREDENTIALS, gcloud's file, the metadata server). `metadata-server`: the metadata server only (GKE, Cloud Run, Compute Engine). Both need project_id. Any other value is the name of shared credentials in `credentials` of this file.
   */
  credentials?: string;
  /**
   * Reference to a Google credentials JSON of any type: workload identity federation from a file (`external_account`), `impersonated_service_account`, `authorized_user` or `service_account`.
   */
  credentials_json?: Secret;
  /**
   * Google Cloud project. Default: the project of the service account.
   */
  project_id?: string;
  /**
   * Location: a region, `global`, or the multi-regions `us` and `eu`.
   */
  region?: string;
  /**
   * Location for counting the tokens of Claude, for a `region` that serves Claude but does not count its tokens. Default: `region`.
   */
  count_tokens_region?: string;
  /**
   * A key for Vertex AI in express mode, instead of project, region and credentials. It works for Gemini models only.
   */
  api_key?: Secret;
  /**
   * Version of the API in every path; `v1beta1` includes preview features.
   */
  api_version?: 'v1' | 'v1beta1';
  /**
   * Models deployed to endpoints of the project, by the name that requests use: `endpoints.NAME`. An endpoint with the method `chat` at the usual host needs no entry here: requests name it as `endpoints.ID`.
   */
  endpoints?: {
    [k: string]: VertexEndpoint;
  };
  embeddings?: VertexEmbeddings;
  /**
   * The names in `anthropic-beta` that are forwarded to Claude; other names are removed and reported. Default: those that Vertex AI is known to accept. Token counts get none by default, and never those of web search and tool search.
   */
  anthropic_betas?: {
    allow?: Betas;
    deny?: Betas;
  };
  /**
   * true: `output_config.format` and `tools[].strict` are sent to Claude. An administrator has to allow the feature first (organization policy `constraints/vertexai.allowedPartnerModelFeatures`). false: a forced tool is sent in place of the schema, and `strict` is left out.
   */
  structured_outputs?: boolean;
  default_max_tokens?: DefaultMaxTokens;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators can set it, never callers.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  inline_thinking?: InlineThinking;
  /**
   * What happens to a request for a token count that the upstream does not have. `refuse`: it gets a 501 with the code `not_supported`. `estimate`: the gateway sends nothing and replies with the bytes of the request divided by four; the reply carries `x-gateway-token-count: estimate`.
   */
  count?: 'refuse' | 'estimate';
  fields?: Fields;
  /**
   * Maximum number of connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
  limits?: RateLimits;
}
/**
 * A Google service-account key in Google's JSON form.
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
   * Id of the private key, sent with each signature.
   */
  private_key_id?: string;
  /**
   * PKCS#8 PEM.
   */
  private_key: Secret;
  /**
   * The service account's e-mail address, which identifies it.
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
   * API of the endpoint. `chat`: chat completions, as Model Garden deploys models. `raw_predict`: the same body for a custom container. `predict`: the body as an instance, for containers that support nothing else. `gemini`: a tuned Gemini model.
   */
  method?: 'chat' | 'predict' | 'raw_predict' | 'gemini';
  /**
   * Host name of a dedicated endpoint, `dedicatedEndpointDns` of its resource.
   */
  dedicated_dns?: string;
  /**
   * Model name in the body, for a container that requires one; for a tuned Gemini model, the name of its base model. Default: the id.
   */
  model?: string;
  /**
   * Request usage on streams (`stream_options.include_usage`). Set to false for a server that refuses stream_options: usage is then counted only if the server sends it anyway.
   */
  stream_usage?: boolean;
  extensions?: ExtensionSetting;
}
/**
 * The division of embedding requests into calls of Vertex AI.
 */
export interface VertexEmbeddings {
  /**
   * Maximum number of texts in one `:predict` call. Default: 250, and 1 for gemini-embedding-001, a limit that Google documents. Models that embed one content at a time always get one.
   */
  instances_per_call?: number;
  /**
   * Maximum number of concurrent calls of one request.
   */
  parallel_calls?: number;
}
/**
 * The fields that requests may have. A request with any other field gets a 400 that names the field; the gateway never removes one silently. The rules apply to fields that callers send, not to the parameters of gateway configs in files.
 */
export interface Fields {
  /**
   * `shared_credentials` is for an account that many callers share. It refuses fields that reach beyond the caller's own requests, with any token: those of `vendor_objects`, such as `file_id`, `container` and `vector_store_ids`, and `mcp_servers`, `connector_id`, `tunnel_id`, `server_url`, `labels`, `store` and `gs://` addresses outside `media_buckets`.
   */
  preset?: 'shared_credentials';
  /**
   * Fields that are refused: names separated by dots, `[]` for every item of a list, `**.` for any depth. The comparison ignores case and underscores.
   *
   * @minItems 1
   */
  deny?: string[];
  /**
   * The only fields, besides `model`, that a request may have; a path allows everything inside it, except bodies inside a body (`generateContentRequest`, `requests`, `instances`, `parameters`, `embedContentConfig`), whose fields are named as at the top level. `deny` and `preset` take precedence. Default: all.
   *
   * @minItems 1
   */
  allow?: string[];
  /**
   * The only Cloud Storage buckets that `gs://` addresses may name, each with or without a path prefix. Default: all; with the preset, or where `vendor_objects` refuses files: none.
   *
   * @minItems 1
   */
  media_buckets?: string[];
  vendor_objects?: VendorObjects;
}
/**
 * Rates and concurrency of requests. A request must fit into all of them, and into those of the team and the organization above. Default: none.
 */
export interface RateLimits {
  /**
   * A number per second, minute or hour.
   */
  requests?: string;
  /**
   * Tokens of input and output per second, minute or hour; or an object that also says which tokens count.
   */
  tokens?: string | TokenRate;
  /**
   * Requests under way at the same time.
   */
  concurrency?: number;
  /**
   * Further limits for some models, by the name that the provider has for the model, with or without @slug/; `*` stands for any text. A request must fit into all whose name matches. Default: none.
   */
  models?: {
    [k: string]: ModelRateLimits;
  };
}
/**
 * A rate of tokens, and which tokens count.
 */
export interface TokenRate {
  /**
   * A number per second, minute or hour.
   */
  rate: string;
  /**
   * all: input and output. uncached: without the input that the provider read from its cache, as Anthropic and others count for their own limits.
   */
  count?: 'all' | 'uncached';
}
/**
 * Rates and concurrency of requests for some models.
 */
export interface ModelRateLimits {
  /**
   * A number per second, minute or hour.
   */
  requests?: string;
  /**
   * Tokens of input and output per second, minute or hour; or an object that also says which tokens count.
   */
  tokens?: string | TokenRate;
  /**
   * Requests under way at the same time.
   */
  concurrency?: number;
}
/**
 * Anthropic's own API.
 */
export interface AnthropicEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`. Default: the name of the provider, such as `vertex-ai`, which only one entry can have.
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
   * Name of shared credentials in `credentials` of this file, in place of `api_key`.
   */
  credentials?: string;
  default_max_tokens?: DefaultMaxTokens;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators can set it, never callers.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
  /**
   * Maximum number of connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
  limits?: RateLimits;
}
/**
 * Google AI Studio: the Gemini Developer API (generativelanguage.googleapis.com), with an API key.
 */
export interface GoogleAiStudioEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`. Default: the name of the provider, such as `vertex-ai`, which only one entry can have.
   */
  slug: string;
  /**
   * Google AI Studio.
   */
  provider: 'google-ai-studio';
  /**
   * The vendor's API key.
   */
  api_key: Secret;
  /**
   * Name of shared credentials in `credentials` of this file, in place of `api_key`.
   */
  credentials?: string;
  /**
   * Version of the API in every path; `v1` lacks preview features, such as tools.
   */
  api_version?: 'v1beta' | 'v1' | 'v1alpha';
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators can set it, never callers.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
  /**
   * Maximum number of connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
  limits?: RateLimits;
}
/**
 * OpenAI, or any server with a compatible API: vLLM, Ollama, Groq, Mistral and many more. Azure is azure-openai.
 */
export interface OpenAiEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`. Default: the name of the provider, such as `vertex-ai`, which only one entry can have.
   */
  slug: string;
  /**
   * OpenAI or a compatible server.
   */
  provider: 'openai';
  /**
   * The API key, sent as a bearer token. Omit it for a server of your own that requires none.
   */
  api_key?: Secret;
  /**
   * Name of shared credentials in `credentials` of this file, in place of `api_key`.
   */
  credentials?: string;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators can set it, never callers.
   */
  base_url?: string;
  /**
   * The API is directly under base_url, without a version in the path. Otherwise /v1 is appended to a base_url without a version.
   */
  unversioned?: boolean;
  /**
   * Organization to which usage is charged, sent as OpenAI-Organization.
   */
  organization?: string;
  /**
   * Project to which usage is charged, sent as OpenAI-Project.
   */
  project?: string;
  headers?: Headers;
  secret_headers?: SecretHeaders;
  /**
   * Request usage on streams (`stream_options.include_usage`). Set to false for a server that refuses stream_options: usage is then counted only if the server sends it anyway.
   */
  stream_usage?: boolean;
  extensions?: ExtensionSetting;
  /**
   * The server takes free-text tools (`type: custom`) on chat completions. `false`: a custom tool of a client with another API becomes a function with one string, and its grammar a part of the description. Default: true at api.openai.com, false elsewhere.
   */
  custom_tools?: boolean;
  api?: ApiChoice;
  unknown_ids?: UnknownIds;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  inline_thinking?: InlineThinking;
  /**
   * What happens to a request for a token count that the upstream does not have. `refuse`: it gets a 501 with the code `not_supported`. `estimate`: the gateway sends nothing and replies with the bytes of the request divided by four; the reply carries `x-gateway-token-count: estimate`.
   */
  count?: 'refuse' | 'estimate';
  fields?: Fields;
  /**
   * Maximum number of connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
  limits?: RateLimits;
}
/**
 * Additional headers for every request of this entry. Plugins can read them: write credentials under secret_headers.
 */
export interface Headers {
  [k: string]: string;
}
/**
 * Additional headers with credentials, such as those of a proxy in front of the server.
 */
export interface SecretHeaders {
  [k: string]: Secret;
}
/**
 * Azure OpenAI. Requests name a deployment as their model.
 */
export interface AzureOpenAiEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`. Default: the name of the provider, such as `vertex-ai`, which only one entry can have.
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
   * Name of shared credentials in `credentials` of this file, in place of `api_key`.
   */
  credentials?: string;
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators can set it, never callers.
   */
  base_url: string;
  /**
   * A dated API version: requests then go to /openai/deployments/NAME. Default: the v1 API, which has no versions.
   */
  api_version?: string;
  /**
   * Deployment names by the model name that requests use, where the two differ. Any other model name is used as the deployment's name.
   */
  deployments?: {
    [k: string]: string;
  };
  headers?: Headers;
  secret_headers?: SecretHeaders;
  /**
   * Request usage on streams (`stream_options.include_usage`). Set to false for a server that refuses stream_options: usage is then counted only if the server sends it anyway.
   */
  stream_usage?: boolean;
  extensions?: ExtensionSetting;
  api?: ApiChoice;
  unknown_ids?: UnknownIds;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  inline_thinking?: InlineThinking;
  /**
   * What happens to a request for a token count that the upstream does not have. `refuse`: it gets a 501 with the code `not_supported`. `estimate`: the gateway sends nothing and replies with the bytes of the request divided by four; the reply carries `x-gateway-token-count: estimate`.
   */
  count?: 'refuse' | 'estimate';
  fields?: Fields;
  /**
   * Maximum number of connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
  limits?: RateLimits;
}
/**
 * A simulated upstream without cost: it answers chat, streams, calls tools on request, and returns errors, delays and broken streams by model name.
 */
export interface SimulatorEntry {
  /**
   * Name of the entry; requests write it as @slug. Letters, digits, `.`, `_` and `-`. Default: the name of the provider, such as `vertex-ai`, which only one entry can have.
   */
  slug: string;
  /**
   * The simulator.
   */
  provider: 'simulator';
  /**
   * Another address for the provider's API: a proxy, a private endpoint, a test server. Only operators can set it, never callers.
   */
  base_url?: string;
  /**
   * Allow plain http and loopback, private and other special-purpose addresses for this entry's base_url, but never a link-local one (169.254.0.0/16, fe80::/10) or a cloud's metadata server. For tests and trusted local servers.
   */
  allow_insecure?: boolean;
  models?: Models;
  fields?: Fields;
  /**
   * Maximum number of connections to the entry's host. Default: the server's limits.connections.
   */
  connections?: number;
  timeouts?: Timeouts;
  limits?: RateLimits;
}
/**
 * Further names of models, which requests write as `model`. A name is case-sensitive: a letter or digit, then letters, digits and `._:/-`, at most 128 characters. With `*` at its end, and at the end of its target, it is a wildcard: what the star stands for follows the target. Exact names come first, then the wildcard with the longest text before its star. The gateway puts the target in its place before any rule about models applies; replies name the alias. A key whose `models` lists the alias may use it without being allowed its target. Default: none.
 */
export interface Aliases {
  [k: string]: ModelAlias;
}
/**
 * What an alias stands for: `target` or `config`, and what lists of models say about it.
 */
export interface ModelAlias {
  /**
   * The model: `@slug/model` of an entry of this file. The target of a wildcard ends with `*`: `@slug/*`, `@slug/claude-*`. An alias cannot be the target of another alias.
   */
  target?: string;
  /**
   * Id of the gateway config that requests for the alias use. Each of its targets must name its entry and its model.
   */
  config?: string;
  /**
   * Name in lists of models. A wildcard has none. Default: the alias.
   */
  display_name?: string;
  /**
   * Context window in tokens, in lists of models. Default: that of the target, if Gatehouse knows it.
   */
  context?: number;
  /**
   * Largest answer in tokens, in lists of models. Default: that of the target, if Gatehouse knows it.
   */
  max_output?: number;
  /**
   * Reasoning efforts that lists of models name, the first one as default. Default: those of the target, if Gatehouse knows them.
   *
   * @minItems 1
   */
  efforts?: ('none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max')[];
  /**
   * Lists of models leave the alias out. Requests may use it.
   */
  hidden?: boolean;
}
/**
 * One credential, in the field that entries would have.
 */
export interface SharedCredentials {
  /**
   * For entries with an `api_key`.
   */
  api_key?: Secret;
  /**
   * For entries of Vertex AI: a service account's JSON key, as a reference to the file, or the object itself.
   */
  service_account?: Secret | ServiceAccountKey;
  /**
   * For entries of Vertex AI: a Google credentials JSON of any type.
   */
  credentials_json?: Secret;
}
/**
 * configs/keys.yaml: the gateway keys of applications and their permissions. `gatehouse keys create` prints an entry to paste.
 */
export interface KeysFile {
  /**
   * The keys.
   */
  keys: GatewayKey[];
}
/**
 * One key, given as its `digest` or as a reference in `key`, and its permissions.
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
  previous?: PreviousKey;
  /**
   * Time from which the key is refused (RFC 3339).
   */
  expires_at?: string;
  client_certificate?: ClientCertificateOfKey;
  /**
   * Networks of clients that may use the key, in CIDR notation. Default: any.
   *
   * @minItems 1
   */
  networks?: string[];
  /**
   * Catalog entries that the key may use, as @slug; a provider name such as vertex-ai allows requests without the catalog. Default: all.
   *
   * @minItems 1
   */
  providers?: string[];
  /**
   * Models that the key may use, with or without @slug/; `*` stands for any text. Default: all.
   *
   * @minItems 1
   */
  models?: string[];
  /**
   * Gateway configs that the key may name. Default: all.
   */
  configs?: string[];
  /**
   * Allow requests with this key to send a gateway config as JSON in `x-gateway-config`, besides the ids of stored ones. The config can name any provider that the key may use.
   */
  inline_configs?: boolean;
  /**
   * Allow such a config to name `plugins`, of itself and of its targets. It can then leave out any plugin of the request and attempt chains that server.yaml does not mark with `always: true`, and use every plugin that server.yaml loads.
   */
  inline_plugins?: boolean;
  fields?: Fields;
  custom_hosts?: CustomHosts;
  /**
   * Metadata of every request with this key, such as its team. It is added to `x-gateway-metadata`, and callers cannot change it. Conditions, labels of Vertex AI, records, access lines, spans and metrics use it. Default: none.
   */
  metadata?: {
    [k: string]: string;
  };
  /**
   * Treatment of a request whose own value for a key of `metadata` differs. lax: the value is dropped, and the record counts it. strict: the request is refused (400 `metadata_rejected`).
   */
  bound?: 'lax' | 'strict';
  /**
   * Id of the team in teams.yaml to which the key belongs. What the key spends and uses counts in the budgets and limits of its team and of the team's organization. Default: none.
   */
  team?: string;
  /**
   * Person or service that is responsible for the key, for people. Default: none.
   */
  owner?: string;
  /**
   * Address for questions about the key, for people. Default: none.
   */
  contact?: string;
  /**
   * Person or service that created the key, for people. Default: none.
   */
  creator?: string;
  /**
   * Refuses the key (401), as if it were revoked, until the setting is removed.
   */
  disabled?: boolean;
  /**
   * Gateway config for requests with this key that name none.
   */
  default_config?: string;
  budgets?: Budgets;
  limits?: RateLimits;
  files?: KeyFiles;
  guards?: Guards;
  /**
   * Prompts that the key may use: ids, or patterns with `*`. Default: all.
   */
  prompts?: string[];
}
/**
 * The key before the last rotation, which stays valid until its end. `gatehouse keys rotate` writes it. The gateway logs its uses, at most once a minute.
 */
export interface PreviousKey {
  /**
   * SHA-256 of the previous key.
   */
  digest: string;
  /**
   * Time from which the previous key is refused (RFC 3339). Not after the `expires_at` of the key, which ends both.
   */
  expires_at: string;
}
/**
 * The certificate of the client, where `tls.client_ca` of server.yaml asks for one. The key is accepted over a connection with this certificate only, and a request over such a connection needs no gateway key: it is a request of this key.
 */
export interface ClientCertificateOfKey {
  /**
   * One of the names in the subjectAltName of the certificate: a URI, an email address, an IP address or a DNS name, whole.
   */
  subject_alt_name?: string;
  /**
   * The common name of the subject of the certificate.
   */
  common_name?: string;
}
/**
 * Hosts that a caller may select with `x-gateway-custom-host`, for an OpenAI-compatible upstream of its own. Such a request carries the caller's own `Authorization` and no credential of the catalog. Default: none.
 */
export interface CustomHosts {
  /**
   * Each a name, `*.` before a name for all its subdomains, or `*` for any host. Add a port that is not the scheme's default (`:8443`, `:*`). An empty list allows none.
   *
   * @maxItems 64
   */
  hosts: string[];
  /**
   * Also allow http and private addresses. Callers can then make the gateway call hosts in your network, within `hosts`.
   */
  allow_insecure?: boolean;
}
/**
 * The most that may be spent in a period. The gateway reserves the highest possible cost of a request before it sends the request, and books the real cost afterwards.
 */
export interface Budget {
  /**
   * The amount: USD with at most nine decimals, at most 9000000 USD, or tokens of input and output. `0 USD` refuses every request that costs something.
   */
  cap: string;
  /**
   * When counting begins anew: with each full hour of UTC; with each day, week (from Monday) or month of `time_zone`; or never (`total`). A request counts in the period in which it was sent.
   */
  period: 'hour' | 'day' | 'week' | 'month' | 'total';
  /**
   * IANA time zone of the days, weeks and months. Default: `state.time_zone` of server.yaml, else UTC.
   */
  time_zone?: string;
  /**
   * Day on which a month begins.
   */
  day_of_month?: number;
  /**
   * refuse: a request that does not fit is refused (429 `budget_exceeded`). warn: it is sent, and the metrics count it.
   */
  on_exceeded?: 'refuse' | 'warn';
  /**
   * Percentages of the cap, spent and reserved, at which the gateway raises an alert, once a period each.
   *
   * @maxItems 10
   *
   * Items: Percent of the cap.
   */
  alerts?: number[];
  /**
   * Only requests for these models count: names as the provider has them, with or without @slug/; `*` stands for any text. Default: all.
   *
   * @minItems 1
   * @maxItems 100
   */
  models?: string[];
}
/**
 * Limits for the files of this key, in place of those of `files` in server.yaml. A limit that is not here is the server's.
 */
export interface KeyFiles {
  max_file_bytes?: Bytes;
  max_total_bytes?: Bytes;
  /**
   * Maximum number of files; 0 allows none.
   */
  max_files?: number;
  ttl?: Duration;
}
/**
 * configs/gateway/NAME.yaml: one gateway config. Requests select it with `x-gateway-config: NAME`. A target inherits the settings that it omits from the config around it.
 */
export interface GatewayFile {
  /**
   * Display name of the config.
   */
  name?: string;
  plugins?: ChainList;
  strategy?: Strategy;
  targets?: Targets;
  /**
   * Catalog entry as @slug, or a provider name when exactly one entry has it.
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
   * When a stream starts to be sent. first_content: with its first content; a later failure is reported in the stream. complete: when it is complete (within `limits.commit_bytes` and `limits.commit_time`), so that any failure before its end can still fall through to another target; for callers who prefer a late answer to a broken one.
   */
  commit?: 'first_content' | 'complete';
  deadline?: Duration;
  /**
   * Extra reply headers for diagnosis. Default: none. server_timing: `Server-Timing`, the time spent in each step. config_hash: `x-gateway-config-hash`, which changes with the content of the config. cost: `x-gateway-cost-usd`, what the request cost in USD, or `unknown`; not on streams, nor on replies that leave before they have arrived whole. explain_id: `x-gateway-explain-id`, the id under which the admin listener explains the request afterwards; the gateway keeps the body for this, so a config sent with a request cannot set it.
   *
   * @minItems 1
   */
  reply_headers?: ('server_timing' | 'config_hash' | 'cost' | 'explain_id')[];
  custom_hosts?: CustomHosts;
  request_timeout?: Duration;
  timeouts?: Timeouts;
  /**
   * true: replies contain only OpenAI's own fields. The request header takes precedence. Default true.
   */
  strict_open_ai_compliance?: boolean;
  /**
   * Models that serve /v1/messages. any: all of them, translated where a model has another API. claude: the Claude family only; a request for another model is refused (400).
   */
  messages_route?: 'any' | 'claude';
  default_max_tokens?: DefaultMaxTokens;
  /**
   * A part of the caller's message or of a tool result that the target cannot read, such as a file for a model without files. refuse: the request is a 400 that names the part. drop: the part is left out and reported in x-gateway-dropped-params.
   */
  on_unreadable_part?: 'refuse' | 'drop';
  guards?: Guards;
  prompts?: PromptPins;
}
/**
 * The rule by which targets are selected.
 */
export interface Strategy {
  /**
   * single: the only target. fallback: the first target, and the next one when it fails. loadbalance: a target drawn by weight, and another one when it fails before its reply has begun. conditional: the target of the first condition that holds.
   */
  mode: 'single' | 'fallback' | 'loadbalance' | 'conditional';
  /**
   * conditional: evaluated in order; the first condition whose `query` holds selects the target.
   *
   * @minItems 1
   * @maxItems 64
   */
  conditions?: Condition[];
  /**
   * conditional: name of the target for requests that match no condition.
   */
  default?: string;
  sticky?: Sticky;
  /**
   * fallback and loadbalance: statuses that fall through to the next target, instead of the default kinds of failure. 502 covers failed connections, 504 timeouts.
   *
   * @minItems 1
   */
  on_status_codes?: number[];
  /**
   * fallback and loadbalance: kinds of failure that fall through to the next target, in addition to `on_status_codes`. `default` stands for the default kinds. The table under Failures describes each kind. `empty` makes a complete reply without a text or a call a failure; such a reply is never cached, and a stream is held until its first text or call (within `limits.hold_bytes`).
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
    | 'empty'
    | 'finish_reason'
    | 'unsupported'
  )[];
  /**
   * fallback and loadbalance: finish reasons that make a complete reply a failure of the kind `finish_reason`, which falls through to the next target: OpenAI's words (stop, length, tool_calls, content_filter) or the provider's own (refusal, UNEXPECTED_TOOL_CALL). If no other target can be tried, the client gets the reply. Such a reply is never cached. A stream is a failure only before its first content; `commit: complete` holds it until its end. Default: none.
   *
   * @minItems 1
   * @maxItems 64
   */
  on_finish_reasons?: string[];
  /**
   * fallback and loadbalance: kinds of failure that never fall through. Takes precedence over `on_errors` and `on_status_codes`.
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
    | 'empty'
    | 'finish_reason'
    | 'unsupported'
  )[];
}
/**
 * A query on the request, and the target for requests that match it.
 */
export interface Condition {
  query: Query;
  /**
   * Name of the target.
   */
  then: string;
}
/**
 * Fields of the request and the values they must have; all must match. Fields: `metadata.KEY`, `params.FIELD` (of the body; dots lead into objects and lists), `headers.NAME`, `model`, `operation` (such as chat.completions), `path`. A bare value means $eq. Operators: $eq $ne $gt $gte $lt $lte $in $nin $regex $exists, and $and $or $not around whole queries.
 */
export interface Query {
  [k: string]: unknown;
}
/**
 * loadbalance: requests with the same values of these fields go to the same target, as long as it is healthy. The choice is a weighted hash: it is the same in every process, and nothing is stored.
 */
export interface Sticky {
  /**
   * `metadata.KEY`, `params.FIELD` of the body, as conditions read it, `headers.NAME` or `caller` (the gateway key). For a request with none of them a target is drawn by weight.
   *
   * @minItems 1
   * @maxItems 8
   */
  hash_fields: string[];
  ttl?: Duration;
}
/**
 * One upstream, or a nested strategy with targets of its own.
 */
export interface Target {
  /**
   * Name of the target, for conditions. Log, records, metrics, `/readyz?verbose` and the header `x-gateway-target-name` show it beside the place in the config.
   */
  name?: string;
  /**
   * loadbalance: weight of this target, relative to the weights of the others. With 0 it is never drawn.
   */
  weight?: number;
  plugins?: ChainList;
  strategy?: Strategy;
  targets?: Targets;
  /**
   * Catalog entry as @slug, or a provider name when exactly one entry has it.
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
   * When a stream starts to be sent. first_content: with its first content; a later failure is reported in the stream. complete: when it is complete (within `limits.commit_bytes` and `limits.commit_time`), so that any failure before its end can still fall through to another target; for callers who prefer a late answer to a broken one.
   */
  commit?: 'first_content' | 'complete';
  /**
   * Context window of this target's model, in tokens. After a `context_length` failure, targets whose window is not larger than that of the failed one are skipped; targets with the same model always are.
   */
  context_window?: number;
  request_timeout?: Duration;
  timeouts?: Timeouts;
  /**
   * true: replies contain only OpenAI's own fields. The request header takes precedence. Default true.
   */
  strict_open_ai_compliance?: boolean;
  /**
   * Models that serve /v1/messages. any: all of them, translated where a model has another API. claude: the Claude family only; a request for another model is refused (400).
   */
  messages_route?: 'any' | 'claude';
  default_max_tokens?: DefaultMaxTokens;
  /**
   * A part of the caller's message or of a tool result that the target cannot read, such as a file for a model without files. refuse: the request is a 400 that names the part. drop: the part is left out and reported in x-gateway-dropped-params.
   */
  on_unreadable_part?: 'refuse' | 'drop';
  guards?: Guards;
}
/**
 * Default values for fields that the request omits or sets to null, in the client's own format. Objects merge key by key; the request's own values take precedence.
 */
export interface DefaultParams {
  [k: string]: unknown;
}
/**
 * Fields that override the request body, in the client's own format, first those of the config, then those of its targets. Names of all four APIs apply to requests of each API: `max_tokens` sets `max_output_tokens` of Responses, `reasoning_effort` the thinking of Claude. Objects merge key by key, arrays replace, null deletes. A field that one level deletes and a nearer level sets replaces the request's field as a whole.
 */
export interface OverrideParams {
  [k: string]: unknown;
}
/**
 * Caches complete 2xx replies for equal requests: same caller, target, flags and body after override_params. Default: off. With mode semantic also for requests that differ in the last user text alone.
 */
export interface CacheSettings {
  /**
   * exact: requests are compared field by field. off: disables a cache inherited from the config around. (simple is Portkey's word for exact.) semantic: as exact; when no reply is found, the text of the last user message may differ, if its vector is near enough to that of a stored text.
   */
  mode: 'exact' | 'off' | 'simple' | 'semantic';
  max_age?: Seconds;
  /**
   * Callers who share cached replies. key: each gateway key has its own. config: all keys that use this gateway config; use it only where they may read each other's answers.
   */
  scope?: 'key' | 'config';
  /**
   * For mode semantic, which requires it: the catalog entry and model that make vectors of texts. Its calls are not attempts of the request.
   */
  embeddings?: string;
  /**
   * For mode semantic: the smallest cosine of two vectors at which a stored reply is used. The default follows from the table in plugins/cache/README.md; other models need other values.
   */
  threshold?: number;
  timeout?: Duration;
}
/**
 * Lets the gateway fetch images and documents that a request names by URL, for targets that accept them only as data: Claude on Vertex AI, and images for Anthropic's own API. Without it such a request is refused (400). A target's own setting replaces the inherited one as a whole. Not allowed in configs sent with a request.
 */
export interface RemoteMedia {
  /**
   * Send the URL of an image on to Anthropic's own API, which fetches it, instead of refusing or fetching it. Claude on Vertex AI fetches nothing: `hosts` decides there.
   */
  pass?: boolean;
  /**
   * Hosts that may be called, also after a redirect: a name, `*.` before a name for all its subdomains, or `*` for any host. Add a port that is not the scheme's default (`:8443`, `:*`). An empty list allows none, also where the config around allows some.
   *
   * @maxItems 64
   */
  hosts?: string[];
  max_bytes?: Bytes;
  /**
   * Maximum number of parts of one request that are fetched.
   */
  max_items?: number;
  timeout?: Duration;
  /**
   * Also allow http URLs and private addresses. Callers who may use this config can then make the gateway read from your network, within `hosts`.
   */
  allow_insecure?: boolean;
}
/**
 * Retries at the same target after a failure. Off unless attempts is set.
 */
export interface Retry {
  /**
   * Number of retries after the first attempt.
   */
  attempts?: number;
  /**
   * Statuses that are retried; 502 covers failed connections, 504 timeouts.
   *
   * @minItems 1
   */
  on_status_codes?: number[];
  min_delay?: Duration;
  max_delay?: Duration;
}
/**
 * Skips a target for a while when it keeps failing. Without a circuit breaker the target's health is only reported. When the breakers of all targets of a request are open, the target whose cooldown ends first is tried.
 */
export interface CircuitBreaker {
  /**
   * Number of failures within `window` that opens the breaker.
   */
  failures?: number;
  /**
   * Minimum share of failures among the requests within `window`, for the breaker to open.
   */
  failure_rate?: number;
  /**
   * Minimum number of requests within `window`, for the breaker to open.
   */
  min_requests?: number;
  window?: Duration;
  cooldown?: Duration;
  /**
   * Statuses that count as failures. 401 stands for the entry's own refused credentials, 402 for an account without credit, 502 for failed connections and broken streams, 504 for timeouts. By default 401 and 402 to a caller's own token do not count.
   *
   * @minItems 1
   */
  on_status_codes?: number[];
}
/**
 * Rules for `x-gateway-metadata`, and the metadata that becomes cost labels.
 */
export interface MetadataRules {
  /**
   * Keys that every request must have. A request without one is refused (400).
   *
   * @minItems 1
   */
  required?: string[];
  /**
   * Allowed values by key. A request with another value is refused (400). Keys that are not listed may have any value.
   */
  allowed?: {
    /**
     * @minItems 1
     */
    [k: string]: string[];
  };
  /**
   * Vertex AI cost labels. true: all metadata become labels of the same name; a list: these keys; an object: the label's name by key. Names and values are adapted to Google's rules; `labels` in the body or in override_params take precedence.
   */
  labels?:
    | boolean
    | string[]
    | {
        [k: string]: string;
      };
}
/**
 * Versions of prompts for requests with this config, by number or label. Requests that name another version get a 403. Default: requests choose, and without a choice get the latest.
 */
export interface PromptPins {
  /**
   * Number or label.
   */
  [k: string]: number | string;
}
/**
 * configs/prompts/NAME.yaml: one prompt with its versions. Requests select it as POST /v1/prompts/NAME/completions. Here `${…}` is plain text.
 */
export interface PromptFile {
  /**
   * Purpose of the prompt, part of the reply of GET /v1/prompts.
   */
  description?: string;
  labels?: PromptLabels;
  versions: PromptVersions;
}
/**
 * Names for versions: requests write NAME@production. `latest` always stands for the version with the highest number and cannot be set. Default: none.
 */
export interface PromptLabels {
  /**
   * Number of the version.
   */
  [k: string]: number;
}
/**
 * The versions by number. A released version (one with a `digest`) never changes.
 */
export interface PromptVersions {
  [k: string]: PromptVersion;
}
/**
 * One version of a prompt. It has `messages` or `text`.
 */
export interface PromptVersion {
  /**
   * Digest of the version with its partials, written by `gatehouse prompts release`. With it, an edit of the version or of a partial is an error. Omitted: the version is a draft.
   */
  digest?: string;
  /**
   * What changed in this version.
   */
  note?: string;
  /**
   * Model of the request. A request that names one takes precedence. Default: the request or its gateway config names the model.
   */
  model?: string;
  /**
   * The conversation, oldest first. Each content is a template.
   *
   * @minItems 1
   * @maxItems 500
   */
  messages?: PromptMessage[];
  /**
   * Template of one user message, in place of `messages`.
   */
  text?: string;
  /**
   * Other fields of the chat request, such as temperature. The request and the overrides of its gateway config take precedence, `default_params` do not. Default: none.
   */
  parameters?: {
    [k: string]: unknown;
  };
  /**
   * Tools of the chat request. Default: none.
   *
   * @minItems 1
   */
  tools?: {
    [k: string]: unknown;
  }[];
  /**
   * Format of the answer, as in a chat request. Default: text.
   */
  response_format?: {
    [k: string]: unknown;
  };
  variables?: PromptVariables;
}
/**
 * One message.
 */
export interface PromptMessage {
  /**
   * Role of the message.
   */
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  /**
   * A template, or a list of parts. A text part is a template or `{ type: text, text: TEMPLATE }`; `{{name}}` of a media variable must be a text part of its own. Other parts are sent as written.
   *
   * @minItems 1
   * @maxItems 200
   */
  content?:
    | string
    | (
        | string
        | {
            [k: string]: unknown;
          }
      )[];
  /**
   * Name of the participant.
   */
  name?: string;
  /**
   * Calls of an assistant message, as in a chat request; sent as written.
   *
   * @minItems 1
   */
  tool_calls?: {
    [k: string]: unknown;
  }[];
  /**
   * The call that a tool message answers.
   */
  tool_call_id?: string;
}
/**
 * The variables of the templates, by name. A request must give each one that has no default. Default: none.
 */
export interface PromptVariables {
  [k: string]: PromptVariable;
}
/**
 * One variable.
 */
export interface PromptVariable {
  /**
   * What the variable holds.
   */
  description?: string;
  schema?: PromptValueSchema;
  /**
   * The value is media: an https:, gs: or data: URL, or the id of a file. It becomes a part of its message.
   */
  media?: 'image' | 'file' | 'audio' | 'video';
  /**
   * Value for requests that omit the variable. Default: the request must give one.
   */
  default?: unknown;
  /**
   * Value with which `gatehouse prompts render` shows the prompt. Default: the variable's default.
   */
  example?: unknown;
}
/**
 * A JSON Schema with these keywords only, so that a check takes time in proportion to the value.
 */
export interface PromptValueSchema {
  /**
   * Type of the value.
   */
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';
  /**
   * The allowed values.
   *
   * @minItems 1
   * @maxItems 200
   */
  enum?: (string | number | boolean)[];
  /**
   * Fewest characters.
   */
  minLength?: number;
  /**
   * Most characters.
   */
  maxLength?: number;
  /**
   * Regular expression (RE2) that a part of the text matches.
   */
  pattern?: string;
  /**
   * Least number.
   */
  minimum?: number;
  /**
   * Greatest number.
   */
  maximum?: number;
  items?: PromptValueSchema;
  /**
   * Fewest items.
   */
  minItems?: number;
  /**
   * Most items.
   */
  maxItems?: number;
  properties?: PromptValueProperties;
  /**
   * Keys that an object must have.
   */
  required?: string[];
  /**
   * Whether an object may have other keys.
   */
  additionalProperties?: boolean;
  /**
   * What the value means.
   */
  description?: string;
}
/**
 * Schemas of the keys of an object.
 */
export interface PromptValueProperties {
  [k: string]: PromptValueSchema;
}
/**
 * configs/prices.yaml: prices of your contracts and of your own models, which stand before the shipped ones. Optional.
 */
export interface PricesFile {
  /**
   * The rules. The first that fits a request is in force; a request that none fits has the shipped price.
   *
   * @maxItems 2000
   */
  prices: PriceRule[];
}
/**
 * Prices of one model, or of those that a pattern names. It has `usd`, `factor` or both.
 */
export interface PriceRule {
  /**
   * Name of the rule, by which it can move to the state store. A rule of the store cannot have the same.
   */
  id?: string;
  /**
   * The provider's name of the model; `*` stands for any text.
   */
  model: string;
  /**
   * Only requests to this catalog entry. Default: to all.
   */
  entry?: string;
  /**
   * Only requests to entries of this provider. Default: of all.
   */
  provider?: string;
  /**
   * The rule applies only to requests to these hosts of callers (`custom_hosts`), with the port if it is not the scheme's; `*` stands for any text. Neither rules without `host` nor shipped prices apply to a host of a caller. Default: the rule applies to entries of the catalog.
   */
  host?: string;
  /**
   * Only requests processed there: a location such as `europe-west1`, `global`, or a region by which shipped prices differ (`regional`, `us`, `eu`, `data_zone`). The shipped factor of the region does not apply. Default: everywhere.
   */
  region?: string;
  /**
   * Only requests of this service tier, as the reply reports it. The shipped factor of the tier does not apply. Default: of all tiers.
   */
  tier?: 'standard' | 'batch' | 'flex' | 'priority';
  /**
   * First day (UTC). Default: always.
   */
  from?: string;
  /**
   * Last day (UTC). Default: no end.
   */
  until?: string;
  usd?: UsdPrices;
  /**
   * Prices of requests with longer prompts, for all of their tokens; `false`: none. Default: the shipped ones.
   */
  long?: LongPrices | false;
  /**
   * Factor on all prices: 0.85 is a discount of 15 %. At most six decimals. Default: 1.
   */
  factor?: number;
  /**
   * Where the price is from, for people.
   */
  source?: string;
}
/**
 * Prices in USD per million tokens, except `search`, `file_search`, `map_search`, `container`, `image` and `second`. A kind that is left out has the shipped price; one that is not shipped either costs as the kind of which it is a part. At most six decimals.
 */
export interface UsdPrices {
  /**
   * Input that is not cached.
   */
  input?: number;
  /**
   * Input read from a cache of the provider.
   */
  cached?: number;
  /**
   * Input written to a cache for 5 minutes, or for the time that the provider chooses.
   */
  write_5m?: number;
  /**
   * Input written to a cache for an hour. Without any price, twice `input`.
   */
  write_1h?: number;
  /**
   * Output, with reasoning.
   */
  output?: number;
  /**
   * Sound in the input.
   */
  audio_in?: number;
  /**
   * Sound read from a cache.
   */
  audio_cached?: number;
  /**
   * Pictures in the input.
   */
  image_in?: number;
  /**
   * Pictures read from a cache.
   */
  image_cached?: number;
  /**
   * Sound in the output.
   */
  audio_out?: number;
  /**
   * Pictures in the output.
   */
  image_out?: number;
  /**
   * A thousand searches of the provider.
   */
  search?: number;
  /**
   * A thousand searches of the provider in files.
   */
  file_search?: number;
  /**
   * A thousand answers for which the provider searched its maps. No price is shipped: without one, the cost of such an answer is unknown.
   */
  map_search?: number;
  /**
   * One container in which the provider ran code of the model. A container that several requests use counts in each of them.
   */
  container?: number;
  /**
   * One picture, of a model that charges them by number.
   */
  image?: number;
  /**
   * One second of sound, of a model that charges transcriptions by time.
   */
  second?: number;
}
/**
 * Prices of requests whose prompt, cached input included, has more than `over` tokens.
 */
export interface LongPrices {
  /**
   * Tokens.
   */
  over: number;
  usd: UsdPrices;
}
/**
 * configs/teams.yaml: organizations and teams, to which the keys of keys.yaml belong, with their budgets and limits. Optional.
 */
export interface TeamsFile {
  /**
   * The organizations by id: a letter or digit, then letters, digits, `.`, `_` and `-`, at most 64 characters. Default: none.
   */
  organizations?: {
    [k: string]: Organization;
  };
  /**
   * The teams by id: a letter or digit, then letters, digits, `.`, `_` and `-`, at most 64 characters. A key names its team in `team`. Default: none.
   */
  teams?: {
    [k: string]: Team;
  };
}
/**
 * An organization. What its teams spend and use counts in its budgets and limits.
 */
export interface Organization {
  metadata?: Metadata;
  budgets?: Budgets;
  limits?: RateLimits;
}
/**
 * Metadata of every request with a key of this node, which callers cannot change. The metadata of a team replaces that of its organization under the same name, that of a key both. Default: none.
 */
export interface Metadata {
  [k: string]: string;
}
/**
 * A team. What its keys spend and use counts in its budgets and limits, and in those of its organization.
 */
export interface Team {
  /**
   * Id of the organization of the team. Default: none.
   */
  organization?: string;
  metadata?: Metadata;
  budgets?: Budgets;
  limits?: RateLimits;
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
   * Older name of `max_completion_tokens`.
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
 * NAME.test.yaml: requests to a gateway config, the answers of the upstreams, and the expected results. `gatehouse test` runs them with a simulated clock and without a network. Here `${…}` is plain text.
 */
export interface ConfigTestFile {
  env?: TestEnvironment;
  /**
   * The cases. Each runs with a gateway of its own.
   *
   * @minItems 1
   * @maxItems 1000
   */
  cases: ConfigTestCase[];
}
/**
 * Values for `${env:NAME}` in the settings. Variables not listed here get fake values; the environment of the process is not read.
 */
export interface TestEnvironment {
  [k: string]: string;
}
export interface ConfigTestCase {
  /**
   * The expected behaviour, as a sentence.
   */
  name: string;
  /**
   * Id of the gateway config. Default: the file's name without `.test.yaml`. `none`: the request names no config.
   */
  config?: string;
  /**
   * Id of the key in keys.yaml with which the request is sent, from an address where the key is valid. It is refused if it has expired by `at`. Default: a key without restrictions.
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
   * Random numbers (0 ≤ x < 1) for the draws of load balances, one for each draw; the last one is used for all further draws. Default: 0, the first target with a weight above 0.
   *
   * @minItems 1
   * @maxItems 64
   */
  draws?: number[];
  /**
   * Time of the request. Default: 2026-01-01T00:00:00Z.
   */
  at?: string;
  /**
   * The answers of the upstreams, in the order of the calls. The case fails if a call has no answer, or if an answer is not used. Or `replay`: the answers that upstreams gave in a capture.
   */
  upstream?: TestAnswer[] | TestReplay;
  expect: TestExpectation;
  /**
   * Further requests to the same gateway, one after the other. Its cache, breakers and plugins keep their state between requests.
   *
   * @minItems 1
   * @maxItems 100
   */
  next?: ConfigTestStep[];
}
/**
 * The client's request.
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
   * A value, sent as JSON; or text, sent verbatim.
   */
  body?: unknown;
}
/**
 * The reply to one call of an upstream. `answer` is encoded in the upstream's API, as a stream if the call requests one.
 */
export interface TestAnswer {
  /**
   * The text of a complete and successful answer. For embeddings any text will do: the vectors are generated.
   */
  answer?: string;
  /**
   * Default: 200. An error status without a body gets an error body of the API.
   */
  status?: number;
  /**
   * Headers of the reply.
   */
  headers?: {
    [k: string]: string;
  };
  /**
   * A value, sent as JSON; or text, sent verbatim.
   */
  body?: unknown;
  /**
   * Server-sent events: each an object, sent as the data of an event, or text, sent verbatim.
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
   * refuse: the connection is refused. reset: the connection ends before a reply. hang: no reply ever arrives. cut: the connection ends before the last event, or within the body. garbage: an HTML page with status 200.
   */
  fault?: 'refuse' | 'reset' | 'hang' | 'cut' | 'garbage';
}
/**
 * The answers of upstreams in a file of `gatehouse record`, at their pace on the simulated clock. The case fails if a call is not in the file.
 */
export interface TestReplay {
  /**
   * The file, in the folder of the test file or below it.
   */
  replay: string;
}
/**
 * The expected result. Omitted fields may have any value, but an error of the gateway itself must be expected with `status` or `body`.
 */
export interface TestExpectation {
  /**
   * The target of the reply: its path in the config, its name, or the `@slug` of its entry.
   */
  target?: string;
  /**
   * The number of targets that were tried, or the targets in order. A target that answered from its cache counts, and so does one that the key may not use.
   *
   * @maxItems 64
   */
  attempts?: number | string[];
  /**
   * The request sent upstream. An object: the request to the last target that was called. A list: one for each target that was called, in order. With retries, the last one counts.
   */
  outbound?: TestOutbound | TestOutbound[];
  /**
   * Status of the reply to the client.
   */
  status?: number;
  /**
   * Headers that the reply must have; `*` stands for any text. null: the reply must not have the header.
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
   * The calls for vectors of a semantic cache, as `outbound`. An object: the last call. A list: all calls, in order.
   */
  embeddings?: TestOutbound | TestOutbound[];
  /**
   * Counters that must have increased; others may have increased too.
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
   * Method of the call.
   */
  method?: string;
  /**
   * Full URL of the call; `*` stands for any text.
   */
  url?: string;
  /**
   * Headers that the call must have; `*` stands for any text. null: the call must not have the header.
   */
  headers?: {
    [k: string]: string | null;
  };
  /**
   * Body of the call. These fields must be in it, with these values; null means null or missing. A list must have as many items, each compared in its place.
   */
  body?: unknown;
}
/**
 * The reply, as a stream.
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
   * End of the stream. complete: as the API ends a stream. error: with an error event. cut: the connection ends without either.
   */
  ends?: 'complete' | 'error' | 'cut';
}
export interface TestMetric {
  /**
   * Name of the counter, as in /metrics.
   */
  name: string;
  /**
   * Labels that the counter must have; it may have others.
   */
  labels?: {
    [k: string]: string;
  };
  /**
   * Increase of the counter, summed over all series with these labels. Default: more than 0.
   */
  value?: number;
}
/**
 * One more request. Fields that it omits have the values of the case, except `upstream`.
 */
export interface ConfigTestStep {
  after?: Duration;
  /**
   * Id of the key in keys.yaml with which the request is sent. Default: the case's.
   */
  key?: string;
  /**
   * Headers of the request, instead of all those of the case. Default: the case's.
   */
  headers?: {
    [k: string]: string;
  };
  request?: TestRequest;
  /**
   * Random numbers for the draws of load balances. Default: the case's, from the first on.
   *
   * @minItems 1
   * @maxItems 64
   */
  draws?: number[];
  /**
   * The answers of the upstreams to this request. Default: none, so any call fails the case.
   */
  upstream?: TestAnswer[] | TestReplay;
  expect: TestExpectation;
}
