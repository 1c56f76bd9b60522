/**
 * Thought signatures that travel inside a call id, for clients that keep nothing else of a call (wire.md D9). Base64 there is
 * base64url, because `+/=` break the ids of other providers.
 */
const SEPARATOR = '__thought__';

/** Documented escape value: Gemini 3 takes a call without its signature when it reads this (wire.md finding 9). */
export const SKIP_SIGNATURE = 'skip_thought_signature_validator';

export function splitCallId(id: string): { readonly id: string; readonly signature?: string } {
  const at = id.indexOf(SEPARATOR);
  if (at < 0) return { id };
  const signature = toBase64(id.slice(at + SEPARATOR.length));
  return signature === '' ? { id: id.slice(0, at) } : { id: id.slice(0, at), signature };
}

/** Base64url to base64 with padding; standard base64 comes back as it was. */
export function toBase64(text: string): string {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const missing = (4 - (standard.length % 4)) % 4;
  return missing === 3 ? standard : standard + '='.repeat(missing);
}
