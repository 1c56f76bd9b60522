import { isIP } from 'node:net';
import type { CatalogFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';

/** Duplicate slugs and credentials are the catalog's to judge, when it compiles the entries. */
export function checkCatalog({ providers }: CatalogFile, report: Report): void {
  for (const [index, { base_url, allow_insecure }] of providers.entries()) {
    const path = ['providers', index, 'base_url'];
    if (base_url === undefined) continue;
    if (!URL.canParse(base_url)) {
      report({ path, message: '`base_url` is not a URL' });
      continue;
    }
    const url = new URL(base_url);
    if (url.username !== '' || url.password !== '') report({ path, message: '`base_url` must not hold a user name or password' });
    if (allow_insecure) continue;
    if (url.protocol === 'http:') report({ path, message: 'plain http needs `allow_insecure: true` in this entry' });
    else if (isLoopback(url.hostname)) report({ path, message: 'a loopback address needs `allow_insecure: true` in this entry' });
  }
}

/** Only what is plain to see in the file; every address is checked again when a connection is made. */
function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || host === 'localhost' || host.endsWith('.localhost');
}
