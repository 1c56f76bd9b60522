import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../settings/compile/loopback.ts';
import type { NetworkTest } from '../settings/compile/networks.ts';
import { readForwarded, readXForwardedFor, type Hop } from './forwarded-for.ts';

/** RFC 7239, section 6.2. It is in no network: a key that is held to some is refused. */
export const UNKNOWN = 'unknown';

/**
 * Where a request comes from: the peer of its connection; behind trusted proxies the nearest hop that is none of them. Each proxy
 * appends the address it was called from, so trusted proxies wrote all to the right of that hop. All to the left of it may be the
 * client's invention: it is not read.
 *
 * Where every hop is a trusted proxy, the farthest one began. A hop without an address is `unknown`: the proxies say that they do not
 * know, and a guess could let a key in. So are loopback addresses: they are another machine's own, and would pass for this one.
 */
export function clientAddress(peer: string, headers: IncomingHttpHeaders, isTrusted: NetworkTest): string {
  if (!isTrusted(peer)) return peer;
  const listed = textOf(headers['x-forwarded-for']);
  const standard = textOf(headers['forwarded']);
  if (standard === undefined) return listed === undefined ? peer : nearest(peer, readXForwardedFor(listed), isTrusted);
  const hops = readForwarded(standard);
  const reported = hops ? nearest(peer, hops, isTrusted) : UNKNOWN;
  if (listed === undefined) return reported;
  // Proxies write one of the two and pass the other on as the client sent it: where they differ, one is the client's invention.
  return nearest(peer, readXForwardedFor(listed), isTrusted) === reported ? reported : UNKNOWN;
}

/** Lines of one name arrive joined, in their order. */
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
