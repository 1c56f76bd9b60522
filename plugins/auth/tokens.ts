/**
 * The token of an Authorization header, with or without `Bearer`, in any case and with any white space (RFC 9110,
 * section 11.4).
 */
export function bearer(header: string | undefined): string | undefined {
  const token = header?.trim().replace(/^bearer(?:\s+|$)/i, '');
  return token === '' ? undefined : token;
}

/**
 * Maximum number of words looked up in a credential. Credentials of Digest (RFC 7616) and OAuth 1.0 (RFC 5849) have
 * about 20.
 */
export const MAX_WORDS = 32;

/**
 * Every part of a credential that could be a token itself: words between separators, and the user and password of
 * `Basic` (RFC 7617). Clients put keys in all of these places.
 */
export function wordsOf(credential: string): readonly string[] {
  const words = splitWords(credential);
  return words.flatMap((word) => [word, ...(BASE64.test(word) ? splitWords(fromBase64(word)).filter(isText) : [])]);
}

const BASE64 = /^[A-Za-z0-9+/_-]{8,}={0,2}$/;

const splitWords = (text: string): readonly string[] => text.split(/[\s,;:"']+/).filter((word) => word !== '');

/** Buffer decodes both base64 alphabets. */
const fromBase64 = (word: string): string => Buffer.from(word, 'base64').toString('latin1');

/**
 * An opaque vendor token is also valid base64, but decodes to bytes that are not text. These must not count as words.
 */
const isText = (word: string): boolean => /^[\x21-\x7e]+$/.test(word);
