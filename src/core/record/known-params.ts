import { REPLY_LOSSES } from '../../formats/losses/reply-losses.ts';

/** Loss names of reply parts: a fixed list. */
const REPLY_PARAMS: ReadonlySet<string> = new Set(REPLY_LOSSES);

/**
 * Top-level fields of request bodies that a target may be unable to express. A loss may concern any field that a caller
 * invents; only these become label values.
 */
const KNOWN_PARAMS: ReadonlySet<string> = new Set([
  // OpenAI chat completions
  'audio',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'messages',
  'metadata',
  'modalities',
  'moderation',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning_effort',
  'response_format',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
  'web_search_options',
  // OpenAI images
  'background',
  'output_compression',
  'partial_images',
  'quality',
  'size',
  'style',
  // OpenAI embeddings, and the gateway's additions
  'auto_truncate',
  'dimensions',
  'encoding_format',
  'input',
  'input_type',
  'task_type',
  'title',
  // The gateway's additions to chat completions
  'generation_config',
  'image_config',
  'labels',
  'safety_settings',
  'thinking',
  'top_k',
  // Anthropic messages, and their one header that can lose names
  'anthropic-beta',
  'anthropic_beta',
  'anthropic_version',
  'cache_control',
  'container',
  'context_management',
  'diagnostics',
  'fallbacks',
  'inference_geo',
  'mcp_servers',
  'output_config',
  'output_format',
  'speed',
  'stop_sequences',
  'system',
]);

/** `messages[2].content[0]` → `messages`, `anthropic-beta: NAME` → `anthropic-beta`; unknown fields → undefined. */
export function knownParam(path: string): string | undefined {
  if (REPLY_PARAMS.has(path)) return path;
  const end = path.search(/[.[:]/);
  const name = end < 0 ? path : path.slice(0, end);
  return KNOWN_PARAMS.has(name) ? name : undefined;
}
