import type { IncomingHttpHeaders } from 'node:http';

const NONE: readonly string[] = [];

/** The keys that clients of Google's APIs send. The listener joins one in the query to the header. */
export const googleKeys = ({ 'x-goog-api-key': keys }: IncomingHttpHeaders): readonly string[] =>
  keys?.toString().split(/, */) ?? NONE;
