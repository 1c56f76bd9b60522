import type { IncomingHttpHeaders } from 'node:http';
import type { ServerSettings } from '../../settings/compile/server-settings.ts';
import { isLoopback } from '../../settings/compile/networks.ts';

/** The name or address in a Host header, in lower case, without port and brackets. Undefined: the header is invalid. */
export function hostOf(header: string | undefined): string | undefined {
  const [, literal, name] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(header ?? '') ?? [];
  return (literal ?? name)?.toLowerCase();
}

export function isOwnHost(
  name: string | undefined,
  listener: Pick<ServerSettings['admin'], 'host' | 'hosts'>,
): boolean {
  if (name === undefined) return false;
  return isLoopback(name) || [listener.host, ...listener.hosts].some((own) => own.toLowerCase() === name);
}

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
