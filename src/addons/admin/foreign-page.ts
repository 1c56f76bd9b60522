import type { IncomingHttpHeaders } from 'node:http';
import { hostOf } from '../../core/http/listener/own-host.ts';
import { isLoopback } from '../../core/settings/compile/networks.ts';
import type { ServerSettings } from '../../core/settings/compile/server-settings.ts';

/**
 * True for a request that a page of another origin (scheme, host and port) made a browser send. It reads no answer, but
 * may cost time and a row in the audit. Programs send neither header (https://www.w3.org/TR/fetch-metadata/, RFC 6454,
 * section 7). The scheme of a name of `admin.hosts` may be that of a proxy.
 */
export function isOfForeignPage(
  { 'sec-fetch-site': site, origin, host = '' }: IncomingHttpHeaders,
  { hosts, isSecure }: Pick<ServerSettings['admin'], 'hosts'> & { readonly isSecure: boolean },
): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  const isNamed = hosts.some((own) => own.toLowerCase() === hostOf(host));
  const schemes = isNamed ? ['http', 'https'] : [isSecure ? 'https' : 'http'];
  return !schemes.some((scheme) => URL.parse(`${scheme}://${host}`)?.origin === origin);
}

/** The reason why the admin listener does not start; undefined if it may. */
export function refusalOf({ host, token }: Pick<ServerSettings['admin'], 'host' | 'token'>): string | undefined {
  if (token || isLoopback(host)) return undefined;
  return `the admin listener needs \`admin.token\` to listen on ${host}, which is not a loopback address`;
}
