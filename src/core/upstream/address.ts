import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

interface Range {
  readonly name: string;
  readonly list: BlockList;
}

const buildRanges = (table: readonly (readonly [cidr: string, name: string])[]): readonly Range[] =>
  table.map(([cidr, name]) => {
    const [network = '', bits] = cidr.split('/');
    const list = new BlockList();
    list.addSubnet(network, Number(bits), familyOf(network));
    return { name, list };
  });

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

const nameOf = (ranges: readonly Range[], address: string): string | undefined =>
  ranges.find(({ list }) => list.check(address, familyOf(address)))?.name;

/**
 * Addresses that no public model API can have: the IANA special-purpose registries (RFC 6890 and successors),
 * multicast, and withdrawn blocks. Blocks that are globally reachable (AS112, AMT, anycast) belong to network
 * infrastructure. Blocks that carry an IPv4 address are checked by that address, see `embeddedIpv4`.
 */
const SPECIAL = buildRanges([
  ['0.0.0.0/8', 'this network, RFC 791'],
  ['10.0.0.0/8', 'private use, RFC 1918'],
  ['100.64.0.0/10', 'shared address space, RFC 6598'],
  ['127.0.0.0/8', 'loopback, RFC 1122'],
  // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16: a public address that belongs to the host.
  ['168.63.129.16/32', "Azure's platform of the virtual machine"],
  ['169.254.0.0/16', 'link local and cloud metadata, RFC 3927'],
  ['172.16.0.0/12', 'private use, RFC 1918'],
  ['192.0.0.0/24', 'IETF protocol assignments, RFC 6890'],
  ['192.0.2.0/24', 'documentation, RFC 5737'],
  ['192.31.196.0/24', 'AS112, RFC 7535'],
  ['192.52.193.0/24', 'AMT, RFC 7450'],
  ['192.88.99.0/24', '6to4 relay anycast, RFC 7526'],
  ['192.168.0.0/16', 'private use, RFC 1918'],
  ['192.175.48.0/24', 'AS112, RFC 7534'],
  ['198.18.0.0/15', 'benchmarking, RFC 2544'],
  ['198.51.100.0/24', 'documentation, RFC 5737'],
  ['203.0.113.0/24', 'documentation, RFC 5737'],
  ['224.0.0.0/4', 'multicast, RFC 5771'],
  ['240.0.0.0/4', 'reserved and broadcast, RFC 1112 and RFC 8190'],
  ['::/128', 'unspecified, RFC 4291'],
  ['::1/128', 'loopback, RFC 4291'],
  ['64:ff9b:1::/48', 'local-use translation, RFC 8215'],
  ['100::/64', 'discard only, RFC 6666'],
  ['100:0:0:1::/64', 'dummy prefix, RFC 9780'],
  // Includes Teredo, benchmarking, AMT, AS112, ORCHID and the anycast addresses of 2001:1::.
  ['2001::/23', 'IETF protocol assignments, RFC 2928'],
  ['2001:db8::/32', 'documentation, RFC 3849'],
  ['2620:4f:8000::/48', 'AS112, RFC 7534'],
  ['3fff::/20', 'documentation, RFC 9637'],
  ['5f00::/16', 'segment routing, RFC 9602'],
  ['fc00::/7', 'unique local, RFC 4193'],
  ['fe80::/10', 'link local, RFC 4291'],
  ['fec0::/10', 'site local, RFC 3879'],
  ['ff00::/8', 'multicast, RFC 4291'],
]);

/** The only block from which IANA delegates public IPv6 addresses; all other blocks are reserved. */
const GLOBAL_UNICAST = buildRanges([['2000::/3', 'global unicast']]);

/** Undefined for a public address. @param address in the form of the resolver or the URL parser */
export function specialPurpose(address: string): string | undefined {
  if (isIPv4(address)) return nameOf(SPECIAL, address);
  if (!isIPv6(address)) return 'not an IP address';
  // A zone (`fe80::1%eth0`) names an interface of this machine: only scoped addresses have one.
  if (address.includes('%')) return 'address with a zone, RFC 4007';
  const embedded = embeddedIpv4(address);
  if (embedded !== undefined) {
    const inside = nameOf(SPECIAL, embedded);
    return inside && `IPv6 form of an IPv4 address: ${inside}`;
  }
  const special = nameOf(SPECIAL, address);
  if (special !== undefined) return special;
  return nameOf(GLOBAL_UNICAST, address) === undefined ? 'outside global unicast, RFC 4291' : undefined;
}

/** Metadata servers, which hand out the credentials of the machine: those of Google, AWS, Azure, Alibaba and others. */
const METADATA_SERVERS = buildRanges([
  ['169.254.169.254/32', 'Google, AWS, Azure, OpenStack'],
  ['169.254.170.2/32', 'AWS ECS'],
  ['169.254.170.23/32', 'AWS EKS'],
  ['169.254.0.23/32', 'Tencent'],
  ['168.63.129.16/32', 'Azure'],
  ['100.100.100.200/32', 'Alibaba'],
  ['fd20:ce::254/128', 'Google'],
  ['fd00:ec2::254/128', 'AWS'],
  ['fd00:ec2::23/128', 'AWS EKS'],
  ['fd00:c1::a9fe:a9fe/128', 'Oracle'],
  ['fe80::a9fe:a9fe/128', 'OpenStack'],
]);

export const isMetadataServer = (address: string): boolean => isIn(METADATA_SERVERS, address);

/** Link-local addresses (RFC 3927, RFC 4291): clouds offer services of the machine here, more than a list could cover. */
const LINK_LOCAL = buildRanges([
  ['169.254.0.0/16', 'link local'],
  ['fe80::/10', 'link local'],
]);

export const isLinkLocal = (address: string): boolean => isIn(LINK_LOCAL, address);

/** Checks the address without its zone, and every IPv4 address that an IPv6 address may stand for. */
function isIn(ranges: readonly Range[], address: string): boolean {
  const [plain = ''] = address.split('%');
  const forms = isIPv6(plain) ? [plain, ...ipv4FormsOf(plain)] : [plain];
  return forms.some((form) => isIP(form) !== 0 && nameOf(ranges, form) !== undefined);
}

/**
 * IPv4-mapped (RFC 4291), 6to4 (RFC 3056), and the NAT64 prefix (RFC 6052: on an IPv6-only network DNS64 gives every
 * IPv4-only provider such an address). Packets reach the IPv4 address, so the checks use it.
 */
export function embeddedIpv4(address: string): string | undefined {
  const groups = groupsOf(address);
  const [first, second, third] = groups;
  const last = [groups[6]!, groups[7]!] as const;
  const leading = groups.slice(0, 6).join(':');
  if (leading === `0:0:0:0:0:${0xffff}` || leading === `${0x64}:${0xff9b}:0:0:0:0`) return dotted(...last);
  return first === 0x2002 ? dotted(second!, third!) : undefined;
}

/** The position of an IPv4 address in IPv6 addresses with a certain prefix or interface identifier. */
interface Embedding {
  readonly fits: (groups: readonly number[]) => boolean;
  readonly read: (groups: readonly number[]) => string;
}

const startsWith =
  (...start: readonly number[]) =>
  (groups: readonly number[]): boolean =>
    start.every((group, index) => groups[index] === group);
const lastTwo = (groups: readonly number[]): string => dotted(groups[6]!, groups[7]!);
const isLocalNat64 = startsWith(0x64, 0xff9b, 1);

/** Forms that are refused without `allow_insecure`: a network may interpret an address in any of these ways. */
const LOCAL_EMBEDDINGS: readonly Embedding[] = [
  // `::a.b.c.d`, RFC 4291, deprecated; `::ffff:0:a.b.c.d`, RFC 2765.
  { fits: startsWith(0, 0, 0, 0, 0, 0), read: lastTwo },
  { fits: startsWith(0, 0, 0, 0, 0xffff, 0), read: lastTwo },
  // Local NAT64 (RFC 8215) with a prefix of 96, 48, 56 or 64 bits (RFC 6052, section 2.2); bits 64 to 71 are zero there.
  { fits: isLocalNat64, read: lastTwo },
  { fits: isLocalNat64, read: ([, , , a, b, c]) => dotted(a!, ((b! & 0xff) << 8) | (c! >> 8)) },
  { fits: isLocalNat64, read: ([, , , a, b, c]) => dotted(((a! & 0xff) << 8) | (b! & 0xff), c!) },
  {
    fits: isLocalNat64,
    read: ([, , , , b, c, d]) => dotted(((b! & 0xff) << 8) | (c! >> 8), ((c! & 0xff) << 8) | (d! >> 8)),
  },
  // ISATAP, RFC 5214, below any prefix.
  { fits: (groups) => (groups[4]! & 0xfdff) === 0 && groups[5] === 0x5efe, read: lastTwo },
  // Teredo, RFC 4380: the client's address with all bits inverted.
  { fits: startsWith(0x2001, 0), read: (groups) => dotted(groups[6]! ^ 0xffff, groups[7]! ^ 0xffff) },
];

function ipv4FormsOf(address: string): readonly string[] {
  const global = embeddedIpv4(address);
  if (global !== undefined) return [global];
  const groups = groupsOf(address);
  return LOCAL_EMBEDDINGS.flatMap(({ fits, read }) => (fits(groups) ? [read(groups)] : []));
}

const dotted = (high: number, low: number): string => `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;

/** The eight groups of an IPv6 address that `isIPv6` has accepted. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const before = readGroups(head);
  if (tail === undefined) return before;
  const after = readGroups(tail);
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

function readGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number);
    return [a! * 256 + b!, c! * 256 + d!];
  });
}
