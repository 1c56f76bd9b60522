import { MODEL_LISTS, type FieldTable } from './field-table.ts';

/** POST /v1/chat/completions (wire.md A2). */
export const chatFields: FieldTable = {
  read: [
    ...['model', 'messages', 'stream', 'stream_options.include_usage', ...MODEL_LISTS],
    ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'n', 'stop', 'seed'],
    ...['frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs'],
    ...['tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call', 'response_format'],
    ...['reasoning_effort', 'thinking', 'verbosity', 'modalities', 'audio', 'prediction', 'web_search_options'],
    ...['metadata', 'store', 'user', 'safety_identifier', 'service_tier', 'labels', 'safety_settings', 'image_config'],
    ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'moderation'],
    ...['anthropic_beta', 'anthropic_version'],
  ],
  synonyms: [
    // `max_tokens` is the deprecated name; servers read either, and some prefer the older one.
    ['max_tokens', 'max_completion_tokens'],
    ['tools', 'functions'],
    ['tool_choice', 'function_call'],
    // OpenAI replaces `user` by `safety_identifier`; Claude gets either as `metadata.user_id`.
    ['user', 'safety_identifier'],
    // Each sets how much the model thinks: OpenAI's word, Anthropic's object, OpenRouter's object.
    ['reasoning_effort', 'thinking', 'reasoning'],
  ],
  bothCases: false,
  models: MODEL_LISTS,
  freeMaps: [
    ...['metadata', 'labels', 'logit_bias', 'chat_template_kwargs'],
    ...['tools[].function.parameters', 'functions[].parameters', 'response_format.json_schema.schema'],
    ...['messages[].tool_calls[].function.arguments', 'messages[].content_blocks[].input'],
  ],
};
