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
