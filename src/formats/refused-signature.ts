import { SEARCHED, type UpstreamFailure } from './events.ts';

/**
 * Messages in which the makers refuse a signature (docs/protocols/replies.md#refused-signatures). Servers in between
 * repeat the words and drop the codes, so all upstreams share one list. A *missing* signature is no refused one.
 */
const REFUSALS = [
  // Claude, directly and on Vertex AI.
  /invalid `?(?:signature|data)`? in `?(?:redacted_)?thinking`? block/i,
  /`?(?:redacted_)?thinking`? blocks\b[^\n]{0,200}\bcannot be modified/i,
  // Gemini.
  /thought signature is not valid/i,
  /(?:corrupted|invalid) thought.?signature/i,
  /\bthought_?signature\b[^\n]{0,100}\bTYPE_BYTES\b/i,
  // OpenAI.
  /encrypted content\b[^\n]{0,400}\bcould not be (?:verified|decrypted)/i,
];

/** Begins the reason of every loss that follows a refusal. */
export const REFUSED_SIGNATURE = 'the upstream refused a signature';

/** OpenAI's code. */
const CODE = 'invalid_encrypted_content';

/** True for a 400 by which an upstream refuses a signature of an earlier thought. */
export function refusesSignature({ status, code, message }: UpstreamFailure): boolean {
  if (status !== 400) return false;
  const text = message.slice(0, SEARCHED);
  return code === CODE || REFUSALS.some((refusal) => refusal.test(text));
}
