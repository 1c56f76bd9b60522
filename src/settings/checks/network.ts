import type { Report } from '../../plugin/index.ts';
import { parseNetwork } from '../compile/networks.ts';
import { showValue } from '../problems/show.ts';
import type { ReportPlace } from './report-place.ts';

/** Reports what is no network; a single address gets its prefix as a suggestion. */
export function checkNetwork(network: string, { path, report }: ReportPlace): void {
  if (parseNetwork(network)) return;
  const asHost = [`${network}/32`, `${network}/128`].find((cidr) => parseNetwork(cidr) !== undefined);
  const message = `${showValue(network, undefined)} is not a network in CIDR notation, such as "10.0.0.0/8"`;
  report({ path, message, ...(asHost === undefined ? {} : { suggestion: asHost }) });
}

/** Networks of proxies: one that holds every address lets every client choose its own. */
export function checkProxies(networks: readonly string[], report: Report): void {
  for (const [index, network] of networks.entries()) {
    const path = ['trusted_proxies', index];
    checkNetwork(network, { path, report });
    if (parseNetwork(network)?.prefix !== 0) continue;
    const message = `${network} is every address: clients could choose the address that \`networks\` of keys and the log go by`;
    report({ path, message });
  }
}
