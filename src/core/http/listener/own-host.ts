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
