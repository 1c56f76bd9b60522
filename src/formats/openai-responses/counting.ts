import type { TokenCounting } from '../format.ts';
import { counting as chatCounting } from '../openai-chat/counting.ts';

/** https://platform.openai.com/docs/api-reference/responses/input-tokens */
export const counting: TokenCounting = {
  ...chatCounting,
  notTaken: [
    'stream',
    'stream_options',
    'store',
    'background',
    'include',
    'max_output_tokens',
    'max_tool_calls',
    'temperature',
    'top_p',
    'top_logprobs',
    'metadata',
    'service_tier',
    'safety_identifier',
    'user',
    'prompt_cache_key',
    'prompt_cache_options',
    'prompt_cache_retention',
    'client_metadata',
  ],
  encodeReply: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
};
