import type { IncomingHttpHeaders } from 'node:http';

const NONE: readonly string[] = [];

/** The keys that clients of Google's APIs send. The listener joins one in the query to the header. */
export const googleKeys = ({ 'x-goog-api-key': keys }: IncomingHttpHeaders): readonly string[] =>
  keys?.toString().split(/, */) ?? NONE;

/**
 * The format of gateway keys, truncated or mistyped ones included: `gatehouse_<12-char id>_<secret>`. No vendor's
 * tokens have this beginning.
 */
const KEY_SHAPE = /gatehouse_[a-z0-9]{12}_/i;

/** Whether a text contains a string in the format of a gateway key, valid or not. */
export const holdsKeyShape = (text: string): boolean => KEY_SHAPE.test(text);

/** The token of an Authorization header, with or without `Bearer`, in any case (RFC 9110, section 11.4). */
export function bearer(header: string | undefined): string | undefined {
  const token = header?.trim().replace(/^bearer(?:\s+|$)/i, '');
  return token === '' ? undefined : token;
}
