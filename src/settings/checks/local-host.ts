import { isIP } from 'node:net';
import { createNetworkTest } from '../compile/networks.ts';

/** Loopback, link-local and private addresses: https://datatracker.ietf.org/doc/html/rfc6890 and RFC 1918, RFC 4193. */
const isLocalAddress = createNetworkTest([
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]);

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

/** Checks the text of the host only. The egress guard checks every resolved address, against all ranges, on connect. */
export function isLocalHost(hostname: string): boolean {
  const host = bare(hostname);
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIP(host) !== 0 && isLocalAddress(host);
}

const METADATA_SERVERS: ReadonlySet<string> = new Set(['169.254.169.254', 'metadata.google.internal', 'fd00:ec2::254']);
const isLinkLocal = createNetworkTest(['169.254.0.0/16', 'fe80::/10']);

/**
 * Predicate, to follow `is`, for hosts that the egress guard refuses whatever the settings allow: services of the machine,
 * such as the metadata server that hands out its credentials.
 */
export function offLimits(hostname: string): string | undefined {
  const host = bare(hostname);
  if (METADATA_SERVERS.has(host)) return 'a metadata server, which the gateway never calls';
  return isIP(host) !== 0 && isLinkLocal(host) ? 'a link-local address, which the gateway never calls' : undefined;
}
