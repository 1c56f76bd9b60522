import { normaliseAddress } from '../settings/compile/networks.ts';

/** One hop from a header, as a normalised address. Undefined: the element holds no address. */
export type Hop = string | undefined;

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
export function readXForwardedFor(header: string): readonly Hop[] {
  // Empty list elements are ignored (RFC 9110, section 5.6.1).
  const elements = header.split(',').map((element) => element.trim());
  return elements.filter((element) => element !== '').map(readAddress);
}

const TOKEN = String.raw`[!#$%&'*+.^_\`|~\w-]+`;
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const PAIR = new RegExp(String.raw`[ \t]*(?:(${TOKEN})=(${TOKEN}|${QUOTED}))?[ \t]*([;,]|$)`, 'y');

/**
 * Reads `Forwarded` (RFC 7239), the farthest hop first. `unknown`, an obfuscated name and an element without `for` are
 * hops without an address. Undefined: the header breaks the grammar, so the boundary between the client's elements and
 * the next proxy's is unknown.
 */
export function readForwarded(header: string): readonly Hop[] | undefined {
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
