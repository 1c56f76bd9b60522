import type { IncomingHttpHeaders } from 'node:http';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { isLoopback } from '../settings/compile/networks.ts';

/** The name or address in a Host header, in lower case, without port and brackets. Undefined: the header is invalid. */
export function hostOf(header: string | undefined): string | undefined {
  const [, literal, name] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(header ?? '') ?? [];
  return (literal ?? name)?.toLowerCase();
}

/** True if the name belongs to this listener. */
export function isOwnHost(
  name: string | undefined,
  listener: Pick<ServerSettings['admin'], 'host' | 'hosts'>,
): boolean {
  if (name === undefined) return false;
  return isLoopback(name) || [listener.host, ...listener.hosts].some((own) => own.toLowerCase() === name);
}

/**
 * True for a request that a page of another origin made a browser send. Such a page reads no answer, but a read can cost time and leave
 * a row in the audit. Programs send neither header (https://www.w3.org/TR/fetch-metadata/, RFC 6454, section 7).
 */
export function isOfForeignPage(
  { 'sec-fetch-site': site, origin }: IncomingHttpHeaders,
  listener: Pick<ServerSettings['admin'], 'host' | 'hosts'>,
): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !isOwnHost(hostOf(URL.parse(origin)?.host), listener);
}

/** The reason why the admin listener does not start; undefined if it may. */
export function refusalOf({ host, token }: Pick<ServerSettings['admin'], 'host' | 'token'>): string | undefined {
  if (token || isLoopback(host)) return undefined;
  return `the admin listener needs \`admin.token\` to listen on ${host}, which is not a loopback address`;
}
