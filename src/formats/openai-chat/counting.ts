import { ReplyFault } from '../faults.ts';
import { COUNTING_DEFAULTS, type TokenCounting } from '../format.ts';
import { objectOf, numberOf } from '../json/object.ts';

/** The count of this gateway's own route: OpenAI's API has no count of a chat (operations/openai.ts). */
export const counting: TokenCounting = {
  ...COUNTING_DEFAULTS,
  notTaken: [],
  decodeReply(body) {
    const tokens = numberOf(objectOf(body)?.input_tokens);
    if (tokens === undefined) throw new ReplyFault('the reply has no count in `input_tokens`');
    return tokens;
  },
  encodeReply: (tokens) => ({ object: 'chat.completion.input_tokens', input_tokens: tokens }),
};
