import type { Report } from '../../kernel/report.ts';
import { parseNetwork } from '../compile/networks.ts';
import { showValue } from '../values/show.ts';
import { within, type Check } from './check.ts';

export const checkNetworks: Check = () => ({
  key({ networks = [] }, report) {
    for (const [index, network] of networks.entries()) checkNetwork(network, within(report, 'networks', index));
  },
  server({ trusted_proxies: networks = [] }, report) {
    for (const [index, network] of networks.entries()) {
      const path = ['trusted_proxies', index];
      checkNetwork(network, within(report, ...path));
      if (parseNetwork(network)?.prefix !== 0) continue;
      const message = `${network} covers every address: any client could forge the address that \`networks\` of keys and the log rely on`;
      report({ path, message });
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
