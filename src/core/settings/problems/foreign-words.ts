// Keys and values of Portkey and other gateways that the schema does not have, with their equivalent here. A migrated config
// is not misspelt, so the nearest key would be a wrong suggestion.

const CIRCUIT_BREAKER =
  'write `circuit_breaker: { failures, failure_rate, min_requests, cooldown, on_status_codes }`, at the top of the config or in a target';
const GUARDRAIL = 'a gateway config has no guardrails; plugins check requests: list them in `plugins`';
const TIMEOUT = 'write `request_timeout` for a target with its retries, `deadline` for the whole request';
const ENTRY = 'of an entry of catalog.yaml, which targets name by `provider: "@slug"`';
const NO_SWITCH = 'there is no switch: leave the whole block out to turn it off';
const FIELDS = 'write `hash_fields`';
const STICKY = 'write `sticky: { hash_fields: [ metadata.KEY ], ttl: 1h }`; a time without a unit counts milliseconds';

const RETRIES = 'write `retry: { attempts: 3 }`';
const LITELLM_MODELS =
  'LiteLLM’s list: write an entry under `providers` for each vendor, and each `model_name` under `aliases`, as in `aliases: { gpt: { target: "@openai/gpt-5" } }`';
const LIMITS = 'write `limits: { requests: "600/min", tokens: "100000/min", concurrency: 20 }`, any of the three';
const BUDGETS = 'write `budgets: [ { cap: "500 USD", period: month } ]`';

const RATES: Readonly<Record<string, string>> = {
  rpm: 'write `requests: "600/min"`',
  rpm_limit: 'write `requests: "600/min"`',
  rps: 'write `requests: "10/s"`',
  tpm: 'write `tokens: "100000/min"`',
  tpm_limit: 'write `tokens: "100000/min"`',
  max_parallel_requests: 'write `concurrency: 20`',
};

const CERTIFICATE = 'write `cert`, the path of the file';
const PRIVATE_KEY = 'write `key`, the path of the file';
const TLS: Readonly<Record<string, string>> = {
  cert_file: CERTIFICATE,
  cert_path: CERTIFICATE,
  certificate: CERTIFICATE,
  key_file: PRIVATE_KEY,
  key_path: PRIVATE_KEY,
  private_key: PRIVATE_KEY,
  ca: 'write `client_ca` for the authorities of client certificates; those of upstreams are `egress.ca`',
  enabled: NO_SWITCH,
  min_version: 'there is no setting: TLS 1.2 is the lowest version',
};

const OTLP_VARIABLES = 'set the variable OTEL_EXPORTER_OTLP_HEADERS, as in `authorization=Bearer TOKEN`';

const INPUT = 'write `input`, USD per million tokens: the price of a token times 1,000,000';
const OUTPUT = 'write `output`, USD per million tokens: the price of a token times 1,000,000';
const CACHED = 'write `cached`, USD per million tokens';
const ALIAS_TARGET = 'write `target: "@openai/gpt-5"`';

const REGION = 'write `region`';
const PROJECT = 'write `project_id`';
const SERVICE_ACCOUNT = 'write `service_account`';
const BASE_URL = 'write `base_url`';
/** Keys of entries at vendors in LiteLLM and Portkey. */
const ENTRY_KEYS: Readonly<Record<string, string>> = {
  api_base: BASE_URL,
  endpoint: BASE_URL,
  url: BASE_URL,
  custom_host: BASE_URL,
  key: 'write `api_key`',
  name: 'write `slug`',
};
const VERTEX: Readonly<Record<string, string>> = {
  ...ENTRY_KEYS,
  location: REGION,
  vertex_location: REGION,
  vertex_region: REGION,
  vertex_ai_location: REGION,
  project: PROJECT,
  vertex_project: PROJECT,
  vertex_project_id: PROJECT,
  vertex_ai_project: PROJECT,
  vertex_credentials: SERVICE_ACCOUNT,
  vertex_service_account_json: SERVICE_ACCOUNT,
};
/** LiteLLM's prices are of one token. */
const USD =
  'write `usd`, per million tokens, as in `usd: { input: 1.25, output: 10 }`: the price of a token times 1,000,000';
const CAP = 'write `cap: "500 USD"`';
const PERIOD = 'write `period: month`';
const PROXY = 'write `proxy: "http://proxy.example.com:3128"`, for all upstreams';
const PROXY_LOGIN = 'write `proxy_credentials: "${env:PROXY_CREDENTIALS}"`, as USER:PASSWORD';

/** Keys that other gateways have on keys, teams and organizations. */
const SPENDING: Readonly<Record<string, string>> = {
  rate_limit: LIMITS,
  rate_limits: LIMITS,
  ratelimit: LIMITS,
  rpm: LIMITS,
  rpm_limit: LIMITS,
  tpm: LIMITS,
  tpm_limit: LIMITS,
  max_parallel_requests: LIMITS,
  usage_limits: BUDGETS,
  budget: BUDGETS,
  max_budget: BUDGETS,
  budget_duration: BUDGETS,
  budget_limit: BUDGETS,
  credit_limit: BUDGETS,
};

const TARGET: Readonly<Record<string, string>> = {
  cb_config: CIRCUIT_BREAKER,
  custom_host: `write \`base_url\` ${ENTRY}`,
  vertex_project_id: `write \`project_id\` ${ENTRY}`,
  vertex_region: `write \`region\` ${ENTRY}`,
  vertex_service_account_json: `write \`service_account\` ${ENTRY}`,
  timeout: TIMEOUT,
  retries: RETRIES,
  num_retries: RETRIES,
  max_retries: RETRIES,
  before_request_hooks: GUARDRAIL,
  after_request_hooks: GUARDRAIL,
  input_guardrails: GUARDRAIL,
  output_guardrails: GUARDRAIL,
};

/** Advice by the `title` of the schema and by key. */
const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  GatewayFile: TARGET,
  Target: TARGET,
  CatalogFile: { model_list: LITELLM_MODELS, litellm_settings: 'write `server.yaml` for what it sets' },
  GatewayKey: {
    ...SPENDING,
    enabled: 'write `disabled: true` to refuse the key',
    active: 'write `disabled: true` to refuse the key',
  },
  Team: {
    ...SPENDING,
    members: 'keys name their team: write `team: NAME` in keys.yaml',
    keys: 'keys name their team: write `team: NAME` in keys.yaml',
  },
  RateLimits: RATES,
  ModelRateLimits: RATES,
  Budget: {
    limit: CAP,
    amount: CAP,
    max_budget: CAP,
    usd: CAP,
    reset: PERIOD,
    interval: PERIOD,
    duration: PERIOD,
    soft_limit: 'write `alerts: [80]`, percentages of the cap',
  },
  AnthropicEntry: ENTRY_KEYS,
  AzureOpenAiEntry: ENTRY_KEYS,
  GoogleAiStudioEntry: ENTRY_KEYS,
  OpenAiEntry: ENTRY_KEYS,
  VertexEntry: VERTEX,
  PriceRule: {
    input_cost_per_token: USD,
    output_cost_per_token: USD,
    cache_read_input_token_cost: USD,
    cache_creation_input_token_cost: USD,
    prompt: USD,
    completion: USD,
  },
  ModelAlias: { model: ALIAS_TARGET, to: ALIAS_TARGET, name: ALIAS_TARGET, provider: ALIAS_TARGET },
  UsdPrices: {
    prompt: INPUT,
    input_cost_per_token: INPUT,
    completion: OUTPUT,
    output_cost_per_token: OUTPUT,
    cache_read: CACHED,
    cached_input: CACHED,
    cache_read_input_token_cost: CACHED,
    cache_write: 'write `write_5m`, USD per million tokens',
  },
  Traces: { headers: OTLP_VARIABLES, timeout: 'set the variable OTEL_EXPORTER_OTLP_TIMEOUT, in milliseconds' },
  ServerFile: { cors: 'list the plugin `cors` in `chains.entry`, before `errors`' },
  Tls: TLS,
  AdminTls: { ...TLS, ca: 'the admin listener reads no client certificates' },
  Egress: {
    http_proxy: PROXY,
    https_proxy: PROXY,
    proxy_url: PROXY,
    username: PROXY_LOGIN,
    password: PROXY_LOGIN,
    ca_file: 'write `ca`',
    ca_bundle: 'write `ca`',
  },
  StateStoreSettings: {
    path: 'write `dir`',
    folder: 'write `dir`',
    file: 'write `dir`',
    url: 'the store is a folder: write `dir`',
  },
  AlertWebhook: { events: 'write `kinds`', teams: 'write `nodes: ["team:search"]`', token: 'write `secret`' },
  Organization: SPENDING,
  Strategy: {
    cb_config: CIRCUIT_BREAKER,
    sticky_session: STICKY,
    sticky_sessions: STICKY,
    else: 'write `default`',
    otherwise: 'write `default`',
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
  Sticky: { enabled: NO_SWITCH, fields: FIELDS, keys: FIELDS },
  Condition: {
    if: 'write `query`',
    when: 'write `query`',
    match: 'write `query`',
    target: 'write `then`, the `name` of the target',
    use: 'write `then`, the `name` of the target',
  },
  Retry: {
    count: 'write `attempts`',
    max_attempts: 'write `attempts`, the tries after the first',
    max_retries: 'write `attempts`',
    num_retries: 'write `attempts`',
    delay: 'write `min_delay` for the first wait, `max_delay` for the longest',
    backoff: 'delays always grow, from `min_delay` to `max_delay`',
    retry_after: 'the upstream’s retry-after is always honoured, up to `max_delay`',
  },
  Timeouts: { request: 'write `total`' },
};

/** Advice on what to write instead of another gateway's key. */
export function adviceOnKey(title: unknown, key: string): string | undefined {
  const keys = typeof title === 'string' && Object.hasOwn(KEYS, title) ? KEYS[title] : undefined;
  return keys && Object.hasOwn(keys, key) ? keys[key] : undefined;
}

const VALUES: Readonly<Record<string, string>> = {
  // Modes.
  ab: 'loadbalance',
  canary: 'loadbalance',
  random: 'loadbalance',
  round_robin: 'loadbalance',
  roundrobin: 'loadbalance',
  weighted: 'loadbalance',
  failover: 'fallback',
  priority: 'fallback',
  router: 'conditional',
  // Values of budgets
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  lifetime: 'total',
  never: 'total',
  block: 'refuse',
  deny: 'refuse',
  hard: 'refuse',
  reject: 'refuse',
  soft: 'warn',
  // Kinds of failure.
  '401': 'auth',
  '403': 'auth',
  '404': 'not_found',
  '409': 'conflict',
  '429': 'rate_limit',
  '500': 'server_error',
  '502': 'connection',
  '503': 'overloaded',
  '504': 'timeout_first_byte',
  '529': 'overloaded',
  '5xx': 'server_error',
  moderation: 'content_filter',
  network: 'connection',
  safety: 'content_filter',
  timeout: 'timeout_first_byte',
};

/** The allowed value that is equivalent to another gateway's word. */
export function meantBy(word: string, allowed: readonly string[]): string | undefined {
  const name = word.toLowerCase().replaceAll('-', '_');
  const meant = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  return meant !== undefined && allowed.includes(meant) ? meant : undefined;
}
