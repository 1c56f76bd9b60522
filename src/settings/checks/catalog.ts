import { isIP } from 'node:net';
import type { CatalogEntry, CatalogFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { readBase } from '../../providers/base-url.ts';
import { createNetworkTest } from '../networks.ts';
import { checkTimeouts } from './times.ts';

/** Duplicate slugs and credentials are the catalog's to judge, when it compiles the entries. */
export function checkCatalog({ providers }: CatalogFile, report: Report): void {
  for (const [index, entry] of providers.entries()) {
    const path = ['providers', index];
    const reportHere: Report = (problem) => report({ ...problem, path: [...path, ...problem.path] });
    // As the provider reads it; that it says the same when the catalog is compiled makes one diagnostic, not two.
    const base = readBase(entry, '', reportHere);
    if (base && !entry.allow_insecure) checkHost(entry, reportHere);
    checkTimeouts(entry.timeouts, { path: [...path, 'timeouts'], report });
  }
}

/** Addresses no provider on the internet has: https://datatracker.ietf.org/doc/html/rfc6890 and RFC 1918, RFC 4193. */
const isLocal = createNetworkTest([
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]);

/** Only what is plain to see in the file; every address is checked again, by all ranges, when a connection is made. */
function checkHost({ base_url: baseUrl }: CatalogEntry, report: Report): void {
  if (baseUrl === undefined) return;
  const { hostname } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLoopbackName = host === 'localhost' || host.endsWith('.localhost');
  if (!isLoopbackName && !(isIP(host) !== 0 && isLocal(host))) return;
  report({
    path: ['base_url'],
    message: 'base_url is a loopback or private address: set allow_insecure: true if that is meant',
  });
}
