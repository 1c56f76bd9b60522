import type { Report } from '../../plugin/index.ts';
import { parseNetwork } from '../compile/networks.ts';
import { showValue } from '../problems/show.ts';
import type { ReportPlace } from './report-place.ts';

/** Reports text that is not a network in CIDR notation. For a single address it suggests the address with its prefix. */
export function checkNetwork(network: string, { path, report }: ReportPlace): void {
  if (parseNetwork(network)) return;
  const asHost = [`${network}/32`, `${network}/128`].find((cidr) => parseNetwork(cidr) !== undefined);
  const message = `${showValue(network, undefined)} is not a network in CIDR notation, such as "10.0.0.0/8"`;
  report({ path, message, ...(asHost === undefined ? {} : { suggestion: asHost }) });
}

/** Checks `trusted_proxies`: a network that covers every address lets every client forge its address. */
export function checkProxies(networks: readonly string[], report: Report): void {
  for (const [index, network] of networks.entries()) {
    const path = ['trusted_proxies', index];
    checkNetwork(network, { path, report });
    if (parseNetwork(network)?.prefix !== 0) continue;
    const message = `${network} covers every address: any client could forge the address that \`networks\` of keys and the log rely on`;
    report({ path, message });
  }
}
