import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback, type NetworkTest } from '../settings/compile/networks.ts';
import { readForwarded, readXForwardedFor, type Hop } from './forwarded-for.ts';

/** RFC 7239, section 6.2. No network contains it, so a request whose key is restricted to networks is refused. */
export const UNKNOWN = 'unknown';

/**
 * The client's address: the connection's peer, or behind trusted proxies the nearest hop that is not one of them. Each
 * proxy appends the address that called it, so trusted proxies wrote everything to the right of that hop. The hops to
 * its left are not read: the client may have invented them.
 *
 * If every hop is a trusted proxy, the farthest one is the client. A hop without an address yields `unknown`: the
 * proxies report that they do not know, and a guess could admit a key. Loopback addresses yield `unknown` too: they
 * belong to another machine and would pass for this one.
 */
export function clientAddress(peer: string, headers: IncomingHttpHeaders, isTrusted: NetworkTest): string {
  if (!isTrusted(peer)) return peer;
  const listed = textOf(headers['x-forwarded-for']);
  const standard = textOf(headers['forwarded']);
  if (standard === undefined) return listed === undefined ? peer : nearest(peer, readXForwardedFor(listed), isTrusted);
  const hops = readForwarded(standard);
  const reported = hops ? nearest(peer, hops, isTrusted) : UNKNOWN;
  if (listed === undefined) return reported;
  // A proxy writes one of the two headers and forwards the other as the client sent it. If they differ, the client
  // invented one of them.
  return nearest(peer, readXForwardedFor(listed), isTrusted) === reported ? reported : UNKNOWN;
}

/** node:http joins header lines of one name, in order. */
const textOf = (header: string | string[] | undefined): string | undefined => header?.toString();

function nearest(peer: string, hops: readonly Hop[], isTrusted: NetworkTest): string {
  const hop = hops.findLast((one) => one === undefined || !isTrusted(one));
  if (hop !== undefined) return isThisMachine(hop) ? UNKNOWN : hop;
  if (hops.includes(undefined)) return UNKNOWN;
  const [farthest] = hops;
  if (farthest === undefined) return peer;
  return isThisMachine(farthest) ? UNKNOWN : farthest;
}

const isThisMachine = (address: string): boolean => isLoopback(address) || address === '0.0.0.0' || address === '::';
