import { ReplyFault } from '../faults.ts';
import { COUNTING_DEFAULTS, type TokenCounting } from '../format.ts';
import { countOf } from '../counts.ts';
import { objectOf } from '../json/object.ts';

/** Fields that a token count does not take (docs/protocols/anthropic-messages.md#count-tokens). */
const NOT_TAKEN = [
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_k',
  'top_p',
  'metadata',
  'service_tier',
  'inference_geo',
  'diagnostics',
] as const;

/** Larger than any thinking budget, which must fit into the limit. */
const ANY_MAX_TOKENS = 1_000_000;

export const counting: TokenCounting = {
  ...COUNTING_DEFAULTS,
  notTaken: NOT_TAKEN,
  demandedMaxTokens: ANY_MAX_TOKENS,
  decodeReply(body) {
    const claimed = objectOf(body)?.input_tokens;
    const tokens = typeof claimed === 'number' ? countOf(claimed) : undefined;
    if (tokens === undefined) throw new ReplyFault('the reply has no count in `input_tokens`');
    return tokens;
  },
  encodeReply: (tokens) => ({ input_tokens: tokens }),
};
