import type { CatalogEntry } from '../../../schemas/types.generated.ts';
import type { Report } from '../kernel/report.ts';
import type { Secret } from '../../plugin/index.ts';

/** The base of an API, before the provider's own paths. */
export interface Base {
  readonly origin: string;
  /** `''`, or a path that begins with a slash and does not end with one. */
  readonly prefix: string;
}

/** The entry's `base_url`, or the provider's own origin. Undefined when a problem was reported. */
export function readBase(entry: CatalogEntry, ownOrigin: string, report: Report): Base | undefined {
  if (entry.base_url === undefined) return { origin: ownOrigin, prefix: '' };
  const url = URL.parse(entry.base_url);
  const problem = url ? refuse(url, entry.allow_insecure ?? false) : 'is not a URL';
  if (!url || problem) {
    report({ path: ['base_url'], message: `base_url ${problem}` });
    return undefined;
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

function refuse(url: URL, allowInsecure: boolean): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https:// (or http://)';
  // Credentials would appear with the URL in explain, logs and errors.
  if (url.username || url.password) return 'must not contain credentials';
  if (url.search || url.hash) return 'must not have a query or a fragment';
  if (url.protocol === 'http:' && !allowInsecure) return 'is plain http: use https, or set allow_insecure: true';
  return undefined;
}

/** Checks that a header can carry the key. Otherwise undici would refuse it at the first request instead of at load. */
export function readApiKey(secret: Secret, report: Report): string | undefined {
  const key = secret.reveal();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  report({
    path: ['api_key'],
    message: 'api_key is empty, or contains a space, a line break or another character that no key has',
  });
  return undefined;
}
