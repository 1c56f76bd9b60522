import { LIFTED, MODEL_LISTS, type FieldTable } from './field-table.ts';

/**
 * Fields that the conversation holds, besides the model, the messages and `stream`. The decoder keeps every other field
 * under its name.
 */
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
export const chatFields: FieldTable = {
  read: [
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
  ],
  synonyms: [
    // `max_tokens` is the deprecated name; servers read either, and some prefer the older one.
    ['max_tokens', 'max_completion_tokens'],
    ['tools', 'functions'],
    ['tool_choice', 'function_call'],
    // OpenAI replaces `user` by `safety_identifier`; Claude gets either as `metadata.user_id`.
    ['user', 'safety_identifier'],
    // Each sets the amount of thinking: OpenAI's string, Anthropic's object, OpenRouter's object.
    ['reasoning_effort', 'thinking', 'reasoning'],
  ],
  bothCases: false,
  lifted: LIFTED,
  models: MODEL_LISTS,
  freeMaps: [
    'metadata',
    'labels',
    'logit_bias',
    'chat_template_kwargs',
    'tools[].function.parameters',
    'functions[].parameters',
    'response_format.json_schema.schema',
    'messages[].tool_calls[].function.arguments',
    'messages[].content_blocks[].input',
  ],
};
