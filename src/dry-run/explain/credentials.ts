import type { IncomingHttpHeaders } from 'node:http';
import { mayHoldCredential } from '../../settings/checks/forward-headers.ts';

/** In the place of a credential that a caller brought for the upstream, where a request is kept without it. */
export const FAKE_CREDENTIAL = 'upstream-token-of-the-caller';

/** Shorter ones are part of many words; nothing that protects anything is as short. */
export const SHORTEST = 8;

/**
 * The credentials that headers hold: what came under a name that says so, the whole of it, what stands behind its scheme, and the
 * values of cookies.
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
