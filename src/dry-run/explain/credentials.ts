import type { IncomingHttpHeaders } from 'node:http';
import { mayHoldCredential } from '../../settings/checks/forward-headers.ts';

/** Replaces a caller's upstream credential in a stored request. */
export const FAKE_CREDENTIAL = 'upstream-token-of-the-caller';

/** Minimum length of a credential. Shorter texts occur in many words, and no real credential is so short. */
export const SHORTEST = 8;

/**
 * The credentials in headers with credential names: the whole value, the part after its scheme, and the values of
 * cookies.
 */
export function credentialsIn(
  headers: IncomingHttpHeaders,
  holds: (name: string) => boolean = mayHoldCredential,
): readonly string[] {
  const held = Object.entries(headers).flatMap(([name, value]) => (holds(name) ? (value ?? []) : []));
  return [...new Set(held.flatMap(partsOf))].filter(({ length }) => length >= SHORTEST);
}

export function partsOf(value: string): readonly string[] {
  const bare = value.replace(/^[\w-]+ +/, '').trim();
  const cookies = value.split(';').flatMap((pair) => /^\s*[^=\s]+=(.+)$/.exec(pair)?.[1]?.trim() ?? []);
  return [value.trim(), bare, ...cookies];
}
