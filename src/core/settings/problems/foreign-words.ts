// Keys and values of Portkey and other gateways that the schema does not have, with their equivalent here. A migrated config
// is not misspelt, so the nearest key would be a wrong suggestion.

type Advice = Readonly<Record<string, string>>;

/** One advice for several keys, which mean the same. */
const all = (advice: string, ...keys: readonly string[]): Advice =>
  Object.fromEntries(keys.map((key) => [key, advice]));

const CIRCUIT_BREAKER =
  'write `circuit_breaker: { failures, failure_rate, min_requests, cooldown, on_status_codes }`, at the top of the config or in a target';
const GUARDRAIL = 'write `guards: [{ name, check, on, action, options }]`';
const TIMEOUT = 'write `request_timeout` for a target with its retries, `deadline` for the whole request';
const ENTRY = 'of an entry of catalog.yaml, which targets name by `provider: "@slug"`';
const NO_SWITCH = 'there is no switch: leave the whole block out to turn it off';
const STICKY = 'write `sticky: { hash_fields: [ metadata.KEY ], ttl: 1h }`; a time without a unit counts milliseconds';
const LITELLM_MODELS =
  'LiteLLM’s list: write an entry under `providers` for each vendor, and each `model_name` under `aliases`, as in `aliases: { gpt: { target: "@openai/gpt-6-sol" } }`';
const LIMITS = 'write `limits: { requests: "600/min", tokens: "100000/min", concurrency: 20 }`, any of the three';
const BUDGETS = 'write `budgets: [ { cap: "500 USD", period: month } ]`';
const PROXY = 'write `proxy: "http://proxy.example.com:3128"`, for all upstreams';
const PRICES =
  'write `usd`, per million tokens, as in `usd: { input: 1.25, output: 10 }`: the price of a token times 1,000,000';
const OF_ONE_TOKEN = 'USD per million tokens: the price of a token times 1,000,000';

const RATES: Advice = {
  ...all('write `requests: "600/min"`', 'rpm', 'rpm_limit'),
  rps: 'write `requests: "10/s"`',
  ...all('write `tokens: "100000/min"`', 'tpm', 'tpm_limit'),
  max_parallel_requests: 'write `concurrency: 20`',
};

const TLS: Advice = {
  ...all('write `cert`, the path of the file', 'cert_file', 'cert_path', 'certificate'),
  ...all('write `key`, the path of the file', 'key_file', 'key_path', 'private_key'),
  ca: 'write `client_ca` for the authorities of client certificates; those of upstreams are `egress.ca`',
  enabled: NO_SWITCH,
  min_version: 'there is no setting: TLS 1.2 is the lowest version',
};

/** Keys of entries at vendors in LiteLLM and Portkey. */
const ENTRY_KEYS: Advice = {
  ...all('write `base_url`', 'api_base', 'endpoint', 'url', 'custom_host'),
  key: 'write `api_key`',
  name: 'write `slug`',
};
const VERTEX: Advice = {
  ...ENTRY_KEYS,
  ...all('write `region`', 'location', 'vertex_location', 'vertex_region', 'vertex_ai_location'),
  ...all('write `project_id`', 'project', 'vertex_project', 'vertex_project_id', 'vertex_ai_project'),
  ...all('write `service_account`', 'vertex_credentials', 'vertex_service_account_json'),
};

/** Keys that other gateways have on keys, teams and organizations. */
const SPENDING: Advice = {
  ...all(LIMITS, 'rate_limit', 'rate_limits', 'ratelimit', 'max_parallel_requests'),
  ...all(LIMITS, 'rpm', 'rpm_limit', 'tpm', 'tpm_limit'),
  ...all(BUDGETS, 'usage_limits', 'budget', 'max_budget', 'budget_duration', 'budget_limit', 'credit_limit'),
};

const TARGET: Advice = {
  cb_config: CIRCUIT_BREAKER,
  custom_host: `write \`base_url\` ${ENTRY}`,
  vertex_project_id: `write \`project_id\` ${ENTRY}`,
  vertex_region: `write \`region\` ${ENTRY}`,
  vertex_service_account_json: `write \`service_account\` ${ENTRY}`,
  timeout: TIMEOUT,
  ...all('write `retry: { attempts: 3 }`', 'retries', 'num_retries', 'max_retries'),
  ...all(GUARDRAIL, 'before_request_hooks', 'after_request_hooks', 'input_guardrails', 'output_guardrails'),
};

/** By the `title` of the schema. */
const KEYS: Readonly<Record<string, Advice>> = {
  GatewayFile: TARGET,
  Target: TARGET,
  CatalogFile: { model_list: LITELLM_MODELS, litellm_settings: 'write `server.yaml` for what it sets' },
  GatewayKey: { ...SPENDING, ...all('write `disabled: true` to refuse the key', 'enabled', 'active') },
  Team: { ...SPENDING, ...all('keys name their team: write `team: NAME` in keys.yaml', 'members', 'keys') },
  RateLimits: RATES,
  ModelRateLimits: RATES,
  Budget: {
    ...all('write `cap: "500 USD"`', 'limit', 'amount', 'max_budget', 'usd'),
    ...all('write `period: month`', 'reset', 'interval', 'duration'),
    soft_limit: 'write `alerts: [80]`, percentages of the cap',
  },
  AnthropicEntry: ENTRY_KEYS,
  AzureOpenAiEntry: ENTRY_KEYS,
  GoogleAiStudioEntry: ENTRY_KEYS,
  OpenAiEntry: ENTRY_KEYS,
  VertexEntry: VERTEX,
  // LiteLLM's prices are of one token.
  PriceRule: {
    ...all(PRICES, 'input_cost_per_token', 'output_cost_per_token', 'prompt', 'completion'),
    ...all(PRICES, 'cache_read_input_token_cost', 'cache_creation_input_token_cost'),
  },
  ModelAlias: all('write `target: "@openai/gpt-6-sol"`', 'model', 'to', 'name', 'provider'),
  UsdPrices: {
    ...all(`write \`input\`, ${OF_ONE_TOKEN}`, 'prompt', 'input_cost_per_token'),
    ...all(`write \`output\`, ${OF_ONE_TOKEN}`, 'completion', 'output_cost_per_token'),
    ...all('write `cached`, USD per million tokens', 'cache_read', 'cached_input', 'cache_read_input_token_cost'),
    cache_write: 'write `write_5m`, USD per million tokens',
  },
  Traces: {
    headers: 'set the variable OTEL_EXPORTER_OTLP_HEADERS, as in `authorization=Bearer TOKEN`',
    timeout: 'set the variable OTEL_EXPORTER_OTLP_TIMEOUT, in milliseconds',
  },
  ServerFile: { cors: 'list the plugin `cors` in `chains.entry`, before `errors`' },
  Tls: TLS,
  AdminTls: { ...TLS, ca: 'the admin listener reads no client certificates' },
  Egress: {
    ...all(PROXY, 'http_proxy', 'https_proxy', 'proxy_url'),
    ...all('write `proxy_credentials: "${env:PROXY_CREDENTIALS}"`, as USER:PASSWORD', 'username', 'password'),
    ...all('write `ca`', 'ca_file', 'ca_bundle'),
  },
  StateStoreSettings: { ...all('write `dir`', 'path', 'folder', 'file'), url: 'the store is a folder: write `dir`' },
  AlertWebhook: { events: 'write `kinds`', teams: 'write `nodes: ["team:search"]`', token: 'write `secret`' },
  Organization: SPENDING,
  Strategy: {
    cb_config: CIRCUIT_BREAKER,
    ...all(STICKY, 'sticky_session', 'sticky_sessions'),
    ...all('write `default`', 'else', 'otherwise'),
    weights: 'write `weight` in each target',
  },
  CircuitBreaker: {
    failure_threshold: 'write `failures`',
    failure_threshold_percentage: 'write `failure_rate`, a share: `0.2` for 20 percent',
    cooldown_interval: 'write `cooldown`, such as `30s`; a time without a unit counts milliseconds',
    failure_status_codes: 'write `on_status_codes`',
    minimum_requests: 'write `min_requests`',
    enabled: NO_SWITCH,
  },
  Sticky: { enabled: NO_SWITCH, ...all('write `hash_fields`', 'fields', 'keys') },
  Condition: {
    ...all('write `query`', 'if', 'when', 'match'),
    ...all('write `then`, the `name` of the target', 'target', 'use'),
  },
  Retry: {
    ...all('write `attempts`', 'count', 'max_retries', 'num_retries'),
    max_attempts: 'write `attempts`, the tries after the first',
    delay: 'write `min_delay` for the first wait, `max_delay` for the longest',
    backoff: 'delays always grow, from `min_delay` to `max_delay`',
    retry_after: 'the upstream’s retry-after always decides; one longer than `max_delay` ends the retries',
  },
  Timeouts: { request: 'write `total`' },
};

/** Advice on what to write instead of another gateway's key. */
export function adviceOnKey(title: unknown, key: string): string | undefined {
  const keys = typeof title === 'string' && Object.hasOwn(KEYS, title) ? KEYS[title] : undefined;
  return keys && Object.hasOwn(keys, key) ? keys[key] : undefined;
}

/** Words of other gateways, by the value that means the same. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  // Modes.
  loadbalance: ['ab', 'canary', 'random', 'round_robin', 'roundrobin', 'weighted'],
  fallback: ['failover', 'priority'],
  conditional: ['router'],
  // Values of budgets.
  hour: ['hourly'],
  day: ['daily'],
  week: ['weekly'],
  month: ['monthly'],
  total: ['lifetime', 'never'],
  refuse: ['block', 'deny', 'hard', 'reject'],
  warn: ['soft'],
  // Kinds of failure.
  auth: ['401', '403'],
  not_found: ['404'],
  conflict: ['409'],
  rate_limit: ['429'],
  server_error: ['500', '5xx'],
  connection: ['502', 'network'],
  overloaded: ['503', '529'],
  timeout_first_byte: ['504', 'timeout'],
  content_filter: ['moderation', 'safety'],
};

/** The allowed value that is equivalent to another gateway's word. */
export function meantBy(word: string, allowed: readonly string[]): string | undefined {
  const name = word.toLowerCase().replaceAll('-', '_');
  return allowed.find((value) => Object.hasOwn(WORDS, value) && WORDS[value]!.includes(name));
}
