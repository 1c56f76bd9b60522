import type { JsonObject } from '../conversation.ts';
import { ReplyFault, type TokenCounting } from '../format.ts';
import { asNumber } from './wire.ts';
import { isObject } from '../json/object.ts';

/**
 * Fields of a generation that a token count does not accept (docs/protocols/gemini.md#count-tokens). `cachedContent` is
 * not among them: it belongs to the prompt, so a count without it would be wrong. Google itself refuses it.
 */
const NOT_TAKEN = ['toolConfig', 'safetySettings', 'labels', 'serviceTier'] as const;

/** Fields of CountTokensResponse (docs/protocols/gemini.md#count-tokens). */
const REPLY_FIELDS: ReadonlySet<string> = new Set([
  'totalTokens',
  'totalBillableCharacters',
  'promptTokensDetails',
  'cachedContentTokenCount',
]);

export const counting: TokenCounting = {
  notTaken: NOT_TAKEN,
  decodeReply(body) {
    const tokens = isObject(body) ? totalOf(body) : undefined;
    if (tokens === undefined) throw new ReplyFault('the reply has no count in `totalTokens`');
    return tokens;
  },
  encodeReply: (tokens) => ({ totalTokens: tokens }),
};

/** ProtoJSON may omit a zero: https://protobuf.dev/programming-guides/json/ */
function totalOf(reply: JsonObject): number | undefined {
  if (reply['totalTokens'] !== undefined) return asNumber(reply['totalTokens']);
  return Object.keys(reply).every((key) => REPLY_FIELDS.has(key)) ? 0 : undefined;
}
