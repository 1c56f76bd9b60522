import type { Exchange } from '../plugin/index.ts';

type Headers = Readonly<Record<string, string>>;

export interface HeaderSources {
  /** Lower-case names of the caller's headers that the config lets through. */
  readonly forward: readonly string[];
  /** What the format says in headers and not in the body. */
  readonly ofFormat: Headers | undefined;
  readonly ofProvider: Headers;
}

/** Several speakers may each ask for some of these. */
const LISTS: readonly string[] = ['anthropic-beta'];

/**
 * Headers of a request to an upstream, credentials apart. They start from nothing: those of the caller that the config names,
 * then the format's and the provider's, which stand over them; lists are joined.
 */
export function outboundHeaders({ request }: Exchange, { forward, ofFormat, ofProvider }: HeaderSources): Headers {
  const own = { ...ofFormat, ...ofProvider, 'content-type': 'application/json' };
  if (forward.length === 0) return own;
  const forwarded: Record<string, string> = {};
  for (const name of forward) {
    const value = request.headers[name];
    // Lists of one header arrive joined; only `set-cookie`, which is never forwarded, arrives as an array.
    if (value !== undefined) forwarded[name] = [value].flat().join(', ');
  }
  const headers: Record<string, string> = { ...forwarded, ...own };
  for (const name of LISTS) {
    const [theirs, ours] = [forwarded[name], headers[name]];
    if (theirs !== undefined && ours !== undefined && theirs !== ours) headers[name] = joined(theirs, ours);
  }
  return headers;
}

const joined = (...lists: readonly string[]): string =>
  [...new Set(lists.flatMap((list) => list.split(',').map((item) => item.trim())))].filter(Boolean).join(',');
