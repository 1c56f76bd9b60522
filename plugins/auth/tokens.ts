/** The token of an Authorization header, with or without `Bearer` (service.md, section 5). Any case, any white space (RFC 9110, section 11.4). */
export function bearer(header: string | undefined): string | undefined {
  const token = header?.trim().replace(/^bearer(?:\s+|$)/i, '');
  return token === '' ? undefined : token;
}

/**
 * Everything in a credential that could be a token by itself: words between separators, and the user and password of `Basic`
 * (RFC 7617). Clients put keys in all of these places.
 */
export function wordsOf(credential: string): readonly string[] {
  const words = splitWords(credential);
  return words.flatMap((word) => [word, ...(BASE64.test(word) ? splitWords(fromBase64(word)) : [])]);
}

const BASE64 = /^[A-Za-z0-9+/_-]{8,}={0,2}$/;

/** Every word is looked up: no credential has more of them. */
const MAX_WORDS = 16;

const splitWords = (text: string): readonly string[] =>
  text.split(/[\s,;:"']+/, MAX_WORDS).filter((word) => word !== '');

/** Bytes that are no text become characters that no key has. Buffer reads both alphabets of base64. */
const fromBase64 = (word: string): string => Buffer.from(word, 'base64').toString('latin1');
