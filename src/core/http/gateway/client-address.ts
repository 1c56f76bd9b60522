import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback, normaliseAddress, type NetworkTest } from '../../settings/compile/networks.ts';

/** RFC 7239, section 6.2. No network contains it, so a request whose key is restricted to networks is refused. */
export const UNKNOWN = 'unknown';

/**
 * The client's address: the connection's peer, or behind trusted proxies the nearest hop that is not one of them. Each
 * proxy appends the address that called it; the hops left of that one may be inventions of the client. If every hop is
 * a trusted proxy, the farthest one is the client. A hop without an address yields `unknown`, as a guess could admit a
 * key, and so does a loopback address, which belongs to another machine and would pass for this one.
 */
export function clientAddress(peer: string, headers: IncomingHttpHeaders, isTrusted: NetworkTest): string {
  if (!isTrusted(peer)) return peer;
  const listed = textOf(headers['x-forwarded-for']);
  const standard = textOf(headers['forwarded']);
  if (standard === undefined) return listed === undefined ? peer : nearest(peer, readXForwardedFor(listed), isTrusted);
  const hops = readForwarded(standard);
  const reported = hops ? nearest(peer, hops, isTrusted) : UNKNOWN;
  if (listed === undefined) return reported;
  // A proxy writes one of the headers and forwards the other as it came: if they differ, the client invented one.
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

/** One hop from a header, as a normalised address. Undefined: the element holds no address. */
type Hop = string | undefined;

const PORT = String.raw`(?::\d{1,5})?`;
const IPV4 = new RegExp(String.raw`^([\d.]+)${PORT}$`);
const BRACKETED = new RegExp(String.raw`^\[([\da-fA-F:.]+)\]${PORT}$`);
/** Without a port: the last group of an IPv6 address looks like one. */
const IPV6 = /^[\da-fA-F:.]*:[\da-fA-F:.]*:[\da-fA-F:.]*$/;

function readAddress(text: string): Hop {
  const [, address = IPV6.test(text) ? text : undefined] = IPV4.exec(text) ?? BRACKETED.exec(text) ?? [];
  return address === undefined ? undefined : normaliseAddress(address);
}

/** Reads `X-Forwarded-For`, the farthest hop first. Addresses may have a port, and IPv6 may have brackets. */
function readXForwardedFor(header: string): readonly Hop[] {
  // Empty list elements are ignored (RFC 9110, section 5.6.1).
  const elements = header.split(',').map((element) => element.trim());
  return elements.filter((element) => element !== '').map(readAddress);
}

const TOKEN = String.raw`[!#$%&'*+.^_\`|~\w-]+`;
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const PAIR = new RegExp(String.raw`[ \t]*(?:(${TOKEN})=(${TOKEN}|${QUOTED}))?[ \t]*([;,]|$)`, 'y');

/**
 * Reads `Forwarded` (RFC 7239), the farthest hop first. `unknown`, an obfuscated name and an element without `for` are
 * hops without an address. Undefined: the grammar is broken, so it is unclear which elements are the client's.
 */
function readForwarded(header: string): readonly Hop[] | undefined {
  const hops: Hop[] = [];
  let node: string | undefined;
  let pairs = 0;
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex <= header.length) {
    const match = PAIR.exec(header);
    if (!match) return undefined;
    const [, name, value = '', end] = match;
    if (name !== undefined) {
      pairs += 1;
      if (name.toLowerCase() === 'for') {
        if (node !== undefined) return undefined;
        node = unquoted(value);
      }
    }
    if (end === ';') continue;
    if (pairs > 0) hops.push(node === undefined ? undefined : readNode(node));
    node = undefined;
    pairs = 0;
    if (end === '') return hops;
  }
  return undefined;
}

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;

/** A port may be obfuscated, and IPv6 must have brackets (RFC 7239, section 6). */
const readNode = (node: string): Hop => {
  const address = node.replace(/:_[\w.-]+$/, '');
  return address.includes('[') || !IPV6.test(address) ? readAddress(address) : undefined;
};
