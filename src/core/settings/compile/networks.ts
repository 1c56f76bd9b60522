import { BlockList, isIP, SocketAddress } from 'node:net';

interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** `10.0.0.0/8`, `2001:db8::/32`; undefined for anything else. */
export function parseNetwork(text: string): Network | undefined {
  const [, address, digits] = /^([0-9A-Fa-f.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  if (address === undefined || isIP(address) === 0) return undefined;
  const prefix = Number(digits);
  if (prefix > (isIP(address) === 4 ? 32 : 128)) return undefined;
  const plain = normaliseAddress(address)!;
  if (isIP(address) === isIP(plain)) return { address: plain, prefix, family: isIP(plain) === 4 ? 'ipv4' : 'ipv6' };
  // `::ffff:10.0.0.0/104` is 10.0.0.0/8; a shorter prefix would reach past the mapped addresses.
  return prefix < 96 ? undefined : { address: plain, prefix: prefix - 96, family: 'ipv4' };
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/** Without `::ffff:` (dual-stack sockets, RFC 4291, 2.5.5.2) and zone. Undefined: not an IP address. */
export function normaliseAddress(address: string): string | undefined {
  const bare = address.split('%', 1)[0]!;
  if (isIP(bare) === 4) return bare;
  if (isIP(bare) === 0) return undefined;
  const canonical = new SocketAddress({ address: bare, family: 'ipv6' }).address;
  return MAPPED.exec(canonical)?.[1] ?? canonical;
}

export type NetworkTest = (address: string) => boolean;

export function createNetworkTest(networks: readonly string[]): NetworkTest {
  const list = new BlockList();
  const families = new Set<Network['family']>();
  for (const text of networks) {
    const network = parseNetwork(text);
    if (!network) throw new RangeError(`${text} is not a network`);
    list.addSubnet(network.address, network.prefix, network.family);
    families.add(network.family);
  }
  return (address) => {
    const plain = normaliseAddress(address);
    if (plain === undefined) return false;
    const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
    return families.has(family) && list.check(plain, family);
  };
}

/** True if one of the networks holds all addresses of `text`; false for text that is no network. */
export function isSubnet(text: string, networks: readonly string[]): boolean {
  const inner = parseNetwork(text);
  return (
    inner !== undefined &&
    networks.some(
      (outer) => (parseNetwork(outer)?.prefix ?? Infinity) <= inner.prefix && createNetworkTest([outer])(inner.address),
    )
  );
}

const isLoopbackAddress = createNetworkTest(['127.0.0.0/8', '::1/128']);

/** True for a loopback address or `localhost`. @param host without brackets */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
}

/** The host of a URL at which this machine reaches a listener: not every system can connect to an any-address. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
