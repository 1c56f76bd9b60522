import type { Reasons } from './source.ts';

const SPEND = 'what was spent until now is not imported: budgets begin at zero';
const STATE = 'the gateway keeps its state itself: see `state` in server.yaml and --workers';
const CALLBACKS =
  'is no list here: metrics are on /metrics, OTEL_EXPORTER_OTLP_ENDPOINT exports traces, metrics and logs, `telemetry.records` writes records';
const DATABASE = 'there is no database: keys and teams are in files or in the state store';
export const INFO =
  'describes the model: the gateway has its own table; `context` and `max_output` of the alias change it';
const ALERTING = 'write `alerts: { webhooks }` in server.yaml; configs/observability/alerts.yaml has rules on metrics';

export const DEPLOYMENT: Reasons = {
  max_retries: 'retries belong to a config: write `retry: { attempts }`',
  stream_timeout: 'write `timeouts: { first_content }` in the target',
  tags: 'write a conditional config on `metadata`',
  mock_response: 'use the simulator',
  merge_reasoning_content_in_choices: 'write `inline_thinking` in the entry of catalog.yaml',
  use_in_pass_through: 'there are no pass-through endpoints',
  region_name: 'write a condition on metadata, or an entry for each region',
};
export const LITELLM: Reasons = {
  callbacks: CALLBACKS,
  success_callback: CALLBACKS,
  failure_callback: CALLBACKS,
  service_callback: CALLBACKS,
  json_logs: 'log lines are always JSON',
  set_verbose: 'write `telemetry: { log: { level: debug } }` in server.yaml',
  turn_off_message_logging: 'prompts and answers are never in logs, traces or records',
  redact_user_api_key_info: 'keys are never in logs, traces or records; ids of keys are',
  drop_params:
    'false: `x-gateway-strict-params: true` refuses a request that the target cannot express; otherwise losses are reported',
  modify_params: 'requests are always translated for their target, and losses are reported',
  guardrails: 'plugins check requests: docs/plugins/api.md',
  default_internal_user_params: DATABASE,
  default_team_params: DATABASE,
  default_key_generate_params: DATABASE,
  upperbound_key_generate_params: DATABASE,
  default_team_settings: CALLBACKS,
  ssl_verify: 'certificates are always verified',
  forward_traceparent_to_llm_provider: 'write `forward_headers: [traceparent]` in the config',
  max_internal_user_budget: 'there are no users: write `budgets` of a key or a team',
};
export const ROUTER: Reasons = {
  routing_strategy: 'targets are drawn by `weight`; a target that fails or is at its limit is left out',
  routing_strategy_args: 'targets are drawn by `weight`',
  enable_pre_call_checks: 'write `context_window` in a target',
  redis_host: STATE,
  redis_port: STATE,
  redis_password: STATE,
  redis_url: STATE,
  cache_responses: 'write `cache` in a config',
  cache_kwargs: STATE,
  set_verbose: 'write `telemetry: { log: { level: debug } }` in server.yaml',
  debug_level: 'write `telemetry: { log: { level: debug } }` in server.yaml',
  retry_policy: 'write `on_errors` and `retry: { on_status_codes }` in the configs',
  model_group_retry_policy: 'write `retry: { on_status_codes }` in the config',
  allowed_fails_policy: 'write `circuit_breaker: { on_status_codes }` in the configs',
  retry_after: 'write `retry: { min_delay }` in the configs',
  disable_cooldowns: 'without `circuit_breaker` no target is left out',
  optional_pre_call_checks: 'has no equivalent; `sticky` keeps a caller at a target',
  tag_filtering: 'write a conditional config on `metadata`',
  enable_tag_filtering: 'write a conditional config on `metadata`',
};
export const GENERAL: Reasons = {
  database_url: DATABASE,
  database_connection_pool_limit: DATABASE,
  database_connection_timeout: DATABASE,
  database_type: DATABASE,
  store_model_in_db: DATABASE,
  store_prompts_in_spend_logs: 'prompts and answers are never stored',
  alerting: ALERTING,
  alerting_threshold: ALERTING,
  alerting_args: ALERTING,
  alert_types: ALERTING,
  alert_to_webhook_url: ALERTING,
  custom_auth: 'a plugin in the entry chain authenticates in another way: docs/plugins/api.md',
  enable_jwt_auth: 'callers authenticate by gateway keys; a plugin in the entry chain reads tokens',
  litellm_jwtauth: 'callers authenticate by gateway keys; a plugin in the entry chain reads tokens',
  background_health_checks: 'a target that fails is found by requests: `circuit_breaker`',
  health_check_interval: 'a target that fails is found by requests: `circuit_breaker`',
  pass_through_endpoints: 'there are no pass-through endpoints',
  proxy_batch_write_at: DATABASE,
  ui_access_mode: 'there is no web page',
  allowed_ips: 'write `networks` of each key',
  use_x_forwarded_for: 'write `trusted_proxies` in server.yaml',
  max_response_size_mb: 'replies are streamed, within `limits` of server.yaml',
  infer_model_from_keys: 'every entry of the catalog names its provider',
  completion_model: 'write `override_params: { model }` in a config, and `default_config` in server.yaml',
  disable_spend_logs: 'the ledger is a part of `state` in server.yaml; without it nothing is kept',
  key_management_system: 'secrets are references to variables and files',
};
export const KEY: Reasons = {
  spend: SPEND,
  soft_budget_cooldown: SPEND,
  budget_reset_at: SPEND,
  created_at: 'is not kept',
  updated_at: 'is not kept',
  permissions: 'write `models`, `providers` and `configs` of the key',
  aliases: 'aliases belong to all keys: `aliases` in catalog.yaml',
  config: 'write a config in gateway/ and name it in `default_config`',
  user_id: 'there are no users; `owner` of a key names a person',
  model_max_budget: 'write a budget with `models` in `budgets` of the key',
  model_spend: SPEND,
  allowed_cache_controls: 'write `cache` in the config',
  guardrails: 'plugins check requests: docs/plugins/api.md',
  model_rpm_limit: 'write `limits: { models }` of the key',
  model_tpm_limit: 'write `limits: { models }` of the key',
};
export const TEAM: Reasons = {
  ...KEY,
  members: 'there are no users; `owner` of a key names a person',
  members_with_roles: 'there are no users; `owner` of a key names a person',
  admins: 'there are no users; `owner` of a key names a person',
  keys: 'keys name their team',
  metadata: 'write `metadata` of the team',
};
