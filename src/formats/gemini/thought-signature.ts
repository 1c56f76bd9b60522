/**
 * Thought signatures inside a call id, for clients that keep no other field of a call
 * (docs/protocols/replies.md#signature-in-the-id). They are in base64url, because the ids of other providers cannot
 * hold `+/=`.
 */
const SEPARATOR = '__thought__';

/**
 * Documented escape value, which Gemini 3 accepts in place of a lost signature
 * (docs/protocols/gemini.md#missing-signature).
 */
export const SKIP_SIGNATURE = 'skip_thought_signature_validator';

export function splitCallId(id: string): { readonly id: string; readonly signature?: string } {
  const at = id.indexOf(SEPARATOR);
  if (at < 0) return { id };
  const signature = toBase64(id.slice(at + SEPARATOR.length));
  return signature === '' ? { id: id.slice(0, at) } : { id: id.slice(0, at), signature };
}

/** Converts base64url to base64 with padding. Standard base64 stays unchanged. */
export function toBase64(text: string): string {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const missing = (4 - (standard.length % 4)) % 4;
  return missing === 3 ? standard : standard + '='.repeat(missing);
}

/**
 * True for a signature of Claude, which may be on a thinking part after a fallback between providers. A signature is
 * valid only for the provider that made it (docs/protocols/replies.md#foreign-signatures). The signatures of both are
 * base64 of protobuf and do not name the provider. Measured on all recorded ones: Claude's is a message in field 2
 * whose own field 1 begins with a version in field 1 and a value in field 3 (`12 … 0a … 08 … 18`), and Google's
 * innermost bytes begin with 01.
 */
export function isFromClaude(signature: string): boolean {
  const bytes = Buffer.from(signature.slice(0, 32), 'base64');
  const outer = fieldAt(bytes, 0, 0x12);
  const inner = outer === undefined ? undefined : fieldAt(bytes, outer, 0x0a);
  return inner !== undefined && bytes[inner] === 0x08 && bytes[inner + 2] === 0x18;
}

/** Returns where the content of a length-delimited field with this tag begins. */
function fieldAt(bytes: Buffer, at: number, tag: number): number | undefined {
  if (bytes[at] !== tag) return undefined;
  let end = at + 1;
  while (end < bytes.length && bytes[end]! >= 0x80) end += 1;
  return end + 1;
}
