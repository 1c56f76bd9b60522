import { ReplyFault, type TokenCounting } from '../format.ts';
import { objectOf } from '../json/object.ts';
import { numberOf } from '../json/read.ts';

/** https://platform.openai.com/docs/api-reference/responses/input-tokens */
export const counting: TokenCounting = {
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
  decodeReply(body) {
    const tokens = numberOf(objectOf(body)?.input_tokens);
    if (tokens === undefined) throw new ReplyFault('the reply has no count in `input_tokens`');
    return tokens;
  },
  encodeReply: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
};
