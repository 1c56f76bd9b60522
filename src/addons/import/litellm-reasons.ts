import { weighed, type Reasons } from './source.ts';

const SPEND = 'what was spent until now is not imported: budgets begin at zero';
const STATE = 'the gateway keeps its state itself: see `state` in server.yaml and --workers';
const CALLBACKS =
  'is no list here: metrics are on /metrics, OTEL_EXPORTER_OTLP_ENDPOINT exports traces, metrics and logs, `telemetry.records` writes records';
const DATABASE = 'there is no database: keys and teams are in files or in the state store';
const NEW_KEYS = 'there is no database: `limits` and `budgets` of each key and team say what it may use';
export const INFO =
  'describes the model: the gateway has its own table; `context` and `max_output` of the alias change it';
const ALERTING = 'write `alerts: { webhooks }` in server.yaml; configs/observability/alerts.yaml has rules on metrics';
const GUARDRAILS = 'write `guards`: docs/plugins/guards.md';
const JWT = 'callers authenticate by gateway keys; a plugin in the entry chain reads tokens';
const DEBUG = 'write `telemetry: { log: { level: debug } }` in server.yaml';
const ROUTES = 'the key may use every route: write `models` of the key, or a condition on the operation in its config';
const OTHER_BUDGET = 'limits and budgets of that table do not hold: write `budgets` and `limits` of the key';
const BY_TAG = 'write a conditional config on `metadata`';
const NO_USERS = 'there are no users; `owner` of a key names a person';
const HEALTH = 'a target that fails is found by requests: `circuit_breaker`';
export const STORED_MODELS =
  'models are in the database too: save the answer of `GET /model/info`, and import it beside this file';

const each = (reason: string, keys: string): Readonly<Record<string, string>> =>
  Object.fromEntries(keys.split(' ').map((key) => [key, reason]));

export const DEPLOYMENT: Reasons = {
  ...weighed('decide', {
    tags: BY_TAG,
    region_name: 'write a condition on metadata, or an entry for each region',
  }),
  ...weighed('check', {
    max_retries: 'retries belong to a config: write `retry: { attempts }`',
    stream_timeout: 'write `timeouts: { first_content }` in the target',
    merge_reasoning_content_in_choices: 'write `inline_thinking` in the entry of catalog.yaml',
  }),
  ...weighed('unneeded', {
    mock_response: 'use the simulator',
    use_in_pass_through: 'there are no pass-through endpoints',
  }),
};
export const LITELLM: Reasons = {
  ...weighed('guard', {
    guardrails: GUARDRAILS,
    ...each(NEW_KEYS, 'default_internal_user_params default_team_params default_key_generate_params'),
    ...each(NEW_KEYS, 'upperbound_key_generate_params'),
    max_internal_user_budget: 'there are no users: write `budgets` of a key or a team',
  }),
  ...weighed('check', {
    ...each(CALLBACKS, 'callbacks success_callback failure_callback service_callback default_team_settings'),
    drop_params:
      'false: `x-gateway-strict-params: true` refuses a request that the target cannot express; otherwise losses are reported',
    forward_traceparent_to_llm_provider: 'write `forward_headers: [traceparent]` in the config',
  }),
  ...weighed('unneeded', {
    json_logs: 'log lines are always JSON',
    set_verbose: DEBUG,
    turn_off_message_logging: 'prompts and answers are never in logs, traces or records',
    redact_user_api_key_info: 'keys are never in logs, traces or records; ids of keys are',
    modify_params: 'requests are always translated for their target, and losses are reported',
    ssl_verify: 'certificates are always verified',
  }),
};
export const ROUTER: Reasons = {
  ...weighed('decide', { tag_filtering: BY_TAG, enable_tag_filtering: BY_TAG }),
  ...weighed('check', {
    routing_strategy: 'targets are drawn by `weight`; a target that fails or is at its limit is left out',
    routing_strategy_args: 'targets are drawn by `weight`',
    enable_pre_call_checks: 'write `context_window` in a target',
    cache_responses: 'write `cache` in a config',
    retry_policy: 'write `on_errors` and `retry: { on_status_codes }` in the configs',
    model_group_retry_policy: 'write `retry: { on_status_codes }` in the config',
    allowed_fails_policy: 'write `circuit_breaker: { on_status_codes }` in the configs',
    retry_after: 'write `retry: { min_delay }` in the configs',
    optional_pre_call_checks: 'has no equivalent; `sticky` keeps a caller at a target',
  }),
  ...weighed('unneeded', {
    ...each(STATE, 'redis_host redis_port redis_password redis_url cache_kwargs'),
    ...each(DEBUG, 'set_verbose debug_level'),
    disable_cooldowns: 'without `circuit_breaker` no target is left out',
  }),
};
export const GENERAL: Reasons = {
  ...weighed('guard', {
    custom_auth: 'a plugin in the entry chain identifies callers, auth-call among them: docs/plugins/host.md',
    ...each(JWT, 'enable_jwt_auth litellm_jwtauth'),
    allowed_ips: 'write `networks` of each key',
    allowed_routes: ROUTES,
    enforced_params: 'a plugin in the entry chain checks requests: docs/plugins/api.md',
  }),
  ...weighed('decide', {
    store_model_in_db: STORED_MODELS,
    completion_model: 'write `override_params: { model }` in a config, and `default_config` in server.yaml',
    key_management_system: 'secrets are references to variables and files',
    pass_through_endpoints: 'there are no pass-through endpoints',
  }),
  ...weighed('check', {
    ...each(ALERTING, 'alerting alerting_threshold alerting_args alert_types alert_to_webhook_url'),
    use_x_forwarded_for: 'write `trusted_proxies` in server.yaml',
    max_response_size_mb: 'replies are streamed, within `limits` of server.yaml',
  }),
  ...weighed('unneeded', {
    ...each(DATABASE, 'database_url database_connection_pool_limit database_connection_timeout database_type'),
    ...each(DATABASE, 'proxy_batch_write_at'),
    store_prompts_in_spend_logs: 'prompts and answers are never stored',
    ...each(HEALTH, 'background_health_checks health_check_interval'),
    ui_access_mode: 'there is no web page',
    infer_model_from_keys: 'every entry of the catalog names its provider',
    disable_spend_logs: 'the ledger is a part of `state` in server.yaml; without it nothing is kept',
  }),
};
export const KEY: Reasons = {
  ...weighed('guard', {
    permissions: 'write `models`, `providers` and `configs` of the key',
    model_max_budget: 'write a budget with `models` in `budgets` of the key',
    guardrails: GUARDRAILS,
    ...each('write `limits: { models }` of the key', 'model_rpm_limit model_tpm_limit'),
    ...each(ROUTES, 'allowed_routes allowed_passthrough_routes'),
    object_permission:
      'a key reaches models, providers and configs: write `models`, `providers` and `configs` of the key',
    allowed_model_region: 'write `providers` of the key, with an entry for each region',
    ...each(OTHER_BUDGET, 'budget_id litellm_budget_table'),
    organization_id: 'limits and budgets of the organization do not hold: write `organization` of the team',
  }),
  ...weighed('decide', {
    aliases: 'aliases belong to all keys: `aliases` in catalog.yaml',
    config: 'write a config in gateway/ and name it in `default_config`',
  }),
  ...weighed('check', {
    ...each(SPEND, 'spend soft_budget_cooldown budget_reset_at model_spend'),
    user_id: NO_USERS,
    allowed_cache_controls: 'write `cache` in the config',
  }),
  ...weighed('unneeded', { created_at: 'is not kept', updated_at: 'is not kept' }),
};
export const TEAM: Reasons = {
  ...KEY,
  ...weighed('check', { metadata: 'write `metadata` of the team' }),
  ...weighed('unneeded', {
    ...each(NO_USERS, 'members members_with_roles admins'),
    keys: 'keys name their team',
  }),
};
/** Keys in answers of the admin API beside models, keys and teams. */
export const PAGE = ['total_count', 'current_page', 'total_pages', 'size'] as const;
