import { isIP } from 'node:net';
import type { CustomHosts, RemoteMedia } from '../../../../schemas/types.generated.ts';
import { parseBytes, parseDuration } from '../../kernel/units.ts';
import type { Report } from '../../kernel/report.ts';
import { readBase } from '../../providers/entry-settings.ts';
import { createNetworkTest, parseNetwork } from '../compile/networks.ts';
import { itemsOf, within, type Check } from './check.ts';
import { showValue } from '../values/show.ts';

/** Checks the hosts that the gateway calls: `base_url` of entries, and those that callers may choose. */
export const checkHosts: Check = () => ({
  entry(entry, report) {
    // The provider reports the same problem when the catalog is compiled; `sortDiagnostics` keeps one of the two.
    if (!readBase(entry, '', report) || entry.base_url === undefined) return;
    const { hostname } = new URL(entry.base_url);
    const path = ['base_url'];
    const refused = offLimits(hostname);
    if (refused !== undefined) report({ path, message: `base_url is ${refused}` });
    else if (!entry.allow_insecure && isLocalHost(hostname))
      report({
        path,
        message: 'base_url is a loopback or private address: set allow_insecure: true if this is intended',
      });
  },
  key: ({ custom_hosts: hosts }, report) => checkCustomHosts(hosts, within(report, 'custom_hosts')),
  config: ({ file }, report) => checkCustomHosts(file.custom_hosts, within(report, 'custom_hosts')),
  node({ file }, report) {
    if (file.remote_media) checkRemoteMedia(file.remote_media, within(report, 'remote_media'));
  },
});

function checkRemoteMedia(media: RemoteMedia, report: Report): void {
  checkCustomHosts(media, report);
  if (media.max_bytes !== undefined && parseBytes(media.max_bytes) === 0)
    report({ path: ['max_bytes'], message: '`max_bytes: 0` refuses all media; write `hosts: []` instead' });
  if (media.timeout !== undefined && parseDuration(media.timeout) === 0)
    report({ path: ['timeout'], message: '`timeout: 0` refuses all media; write `hosts: []` instead' });
}

/** Checks hosts that callers may make the gateway call: for media, or as an upstream of their own. */
function checkCustomHosts(
  file: Partial<Pick<CustomHosts, 'hosts' | 'allow_insecure'>> | undefined,
  report: Report,
): void {
  const { hosts = [], allow_insecure: insecure = false } = file ?? {};
  for (const [host, at] of itemsOf(hosts, report, 'hosts')) checkHost(host, insecure, at);
}

const MAX_PORT = 65_535;

function checkHost(host: string, insecure: boolean, report: Report): void {
  const [name = '', port] = host.split(':');
  if (port !== undefined && port !== '*' && (Number(port) < 1 || Number(port) > MAX_PORT))
    report({ path: [], message: `${port} is not a port: ports range from 1 to ${MAX_PORT}` });
  const doubt = doubtAbout(name, insecure);
  if (doubt !== undefined) report({ path: [], severity: 'warning', message: doubt });
}

function doubtAbout(name: string, insecure: boolean): string | undefined {
  const refused = offLimits(name);
  if (refused !== undefined) return `${name} is ${refused}`;
  if (name === '*' && insecure)
    return 'with `allow_insecure`, callers can make the gateway call every host of your network: name the hosts';
  if (!insecure && isLocalHost(name))
    return `${name} is a loopback or private address, which is refused without \`allow_insecure: true\``;
  return undefined;
}

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

/** To follow `is`: hosts that the egress guard always refuses, which hand out the credentials of the machine. */
export function offLimits(hostname: string): string | undefined {
  const host = bare(hostname);
  if (METADATA_SERVERS.has(host)) return 'a metadata server, which the gateway never calls';
  return isIP(host) !== 0 && isLinkLocal(host) ? 'a link-local address, which the gateway never calls' : undefined;
}

export const checkNetworks: Check = () => ({
  key({ networks }, report) {
    for (const [network, at] of itemsOf(networks, report, 'networks')) checkNetwork(network, at);
  },
  server({ trusted_proxies: networks }, report) {
    for (const [network, at] of itemsOf(networks, report, 'trusted_proxies')) {
      checkNetwork(network, at);
      if (parseNetwork(network)?.prefix !== 0) continue;
      const message = `${network} covers every address: any client could forge the address that \`networks\` of keys and the log rely on`;
      at({ path: [], message });
    }
  },
});

/** Reports text that is not a network in CIDR notation. For a single address it suggests the address with its prefix. */
function checkNetwork(network: string, report: Report): void {
  if (parseNetwork(network)) return;
  const asHost = [`${network}/32`, `${network}/128`].find((cidr) => parseNetwork(cidr) !== undefined);
  const message = `${showValue(network, undefined)} is not a network in CIDR notation, such as "10.0.0.0/8"`;
  report({ path: [], message, ...(asHost === undefined ? {} : { suggestion: asHost }) });
}
