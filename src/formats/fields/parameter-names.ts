/**
 * OpenRouter reads `models` (https://openrouter.ai/docs/features/model-routing), LiteLLM's proxy the three lists of fallbacks
 * (https://docs.litellm.ai/docs/proxy/reliability), Anthropic's beta `fallbacks` (docs/protocols/anthropic-messages.md#beta-fields).
 */
export const MODEL_LISTS = ['models', 'fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'] as const;

/** Fields of the conversation, besides the model, the messages and `stream`. Others keep their names. */
export const CHAT_SETTINGS = [
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'response_format',
  'reasoning_effort',
  'thinking',
  'verbosity',
  'modalities',
  'audio',
  'web_search_options',
  'metadata',
  'user',
  'service_tier',
  'labels',
  'safety_settings',
  'image_config',
] as const;

/** POST /v1/chat/completions (docs/protocols/openai-chat.md#request-fields). */
export const CHAT_PARAMETERS = [
  'model',
  'messages',
  'stream',
  'stream_options.include_usage',
  ...MODEL_LISTS,
  ...CHAT_SETTINGS,
  'logit_bias',
  'prediction',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'moderation',
  'anthropic_beta',
  'anthropic_version',
] as const;

/** Fields of the conversation. Others keep their names: the whole body is passed on, not an allow-list. */
export const MESSAGES_CONVERSATION = [
  'model',
  'messages',
  'system',
  'stream',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'thinking',
  'output_config',
  'output_format',
  'tools',
  'tool_choice',
  'metadata',
  'service_tier',
] as const;

/** POST /v1/messages (docs/protocols/anthropic-messages.md#request-fields). */
export const MESSAGES_PARAMETERS = [
  ...MESSAGES_CONVERSATION,
  'speed',
  'cache_control',
  'container',
  'context_management',
  'mcp_servers',
  'inference_geo',
  'diagnostics',
  'anthropic_beta',
  'anthropic_version',
  ...MODEL_LISTS,
] as const;

/**
 * Fields that the conversation holds, and those that ask for nothing of the model: where the gateway keeps the response, what the
 * client adds for itself, what a reply includes. The decoder keeps every other field under its name.
 */
export const RESPONSES_CONVERSATION = [
  'model',
  'input',
  'instructions',
  'stream',
  'stream_options',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'frequency_penalty',
  'presence_penalty',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'metadata',
  'user',
  'safety_identifier',
  'service_tier',
  'include',
  'store',
  'client_metadata',
] as const;

/** POST /v1/responses (docs/protocols/openai-responses.md#request). */
export const RESPONSES_PARAMETERS = [
  ...RESPONSES_CONVERSATION,
  'previous_response_id',
  'conversation',
  'prompt',
  'background',
  'truncation',
  'max_tool_calls',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'context_management',
  'moderation',
  ...MODEL_LISTS,
] as const;

/** generateContent (docs/protocols/gemini.md#request-body). */
export const GEMINI_PARAMETERS = [
  'model',
  'stream',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'safetySettings',
  'generationConfig',
  'labels',
  'serviceTier',
  'cachedContent',
] as const;
