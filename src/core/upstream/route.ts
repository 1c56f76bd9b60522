import { BlockList, isIP } from 'node:net';
import { UpstreamError } from '../../plugin/index.ts';
import type { OutboundWay, ProxyServer } from './types.ts';

export interface Routes {
  /** The proxy for an origin; undefined: the gateway connects itself. */
  proxyFor(origin: URL): ProxyServer | undefined;
}

export function createRoutes({ proxies, noProxy }: Pick<OutboundWay, 'proxies' | 'noProxy'>): Routes {
  const bypasses = createBypass(noProxy);
  return {
    proxyFor(origin) {
      const proxy = origin.protocol === 'https:' ? proxies.https : proxies.http;
      return !proxy || bypasses(hostOf(origin), portOf(origin)) ? undefined : proxy;
    },
  };
}

/** Without brackets and without the dot at its end. */
const hostOf = ({ hostname }: URL): string => withoutBrackets(hostname).replace(/\.$/, '');

export const withoutBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

export const portOf = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number =>
  Number(port || (protocol === 'https:' ? 443 : 80));

type Bypass = (host: string, port: number) => boolean;

/** Loopback, where a proxy would reach itself: as Go's ProxyFromEnvironment does. */
const LOOPBACK = ['localhost', '127.0.0.0/8', '::1'];

/**
 * Reads hosts as NO_PROXY has them: `*`, names with their subdomains, addresses, networks in CIDR notation, each with
 * an optional port (not networks). Programs differ in the details; this is the reading of Go and curl.
 */
export function createBypass(noProxy: readonly string[]): Bypass {
  const entries = [...LOOPBACK, ...noProxy].map((entry) => readEntry(entry.trim().toLowerCase()));
  return (host, port) => entries.some((matches) => matches(host.toLowerCase(), port));
}

function readEntry(entry: string): Bypass {
  if (entry === '*') return () => true;
  const [, network, bits] = /^([0-9a-f.:]+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (network !== undefined) return inNetwork(network, Number(bits));
  if (isIP(entry) !== 0) return inNetwork(entry, isIP(entry) === 4 ? 32 : 128);
  const [, name = entry, port] = /^(.*):(\d{1,5})$/.exec(entry) ?? [];
  const suffix = withoutBrackets(name)
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
  return (host, on) =>
    suffix !== '' && (host === suffix || host.endsWith(`.${suffix}`)) && (port === undefined || Number(port) === on);
}

function inNetwork(network: string, bits: number): Bypass {
  const family = isIP(network) === 4 ? 'ipv4' : 'ipv6';
  if (isIP(network) === 0 || bits > (family === 'ipv4' ? 32 : 128)) return () => false;
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}

/** Names of metadata servers of clouds, which hand out credentials of the machine: of the proxy's machine, here. */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.oraclecloud.com',
]);

/** Names that only an inner network resolves (RFC 6761, RFC 6762, RFC 8375, and ICANN's reservation of .internal). */
const INNER_NAME = /^[^.]+$|\.(?:localhost|local|internal|intranet|lan|corp|home|home\.arpa)$/;

/**
 * Checks a name that a proxy resolves, so that nothing can be said about its addresses. Names of metadata servers are
 * refused always, and names of inner networks unless the entry sets `allow_insecure`. A public name that leads inside
 * is the proxy's to refuse.
 */
export function checkProxiedName(hostname: string, allowInsecure: boolean): void {
  const host = hostname.toLowerCase().replace(/(?<!\.)\.+$/, '');
  const refuse = (what: string): UpstreamError => new UpstreamError('egress_refused', `${hostname} is ${what}.`);
  if (METADATA_NAMES.has(host)) throw refuse("the name of a cloud's metadata server, which no catalog entry may reach");
  if (!allowInsecure && INNER_NAME.test(host))
    throw refuse('a name of an inner network; the catalog entry does not set allow_insecure');
}
