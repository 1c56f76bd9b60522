import type { ServerFile } from '../../schemas/types.generated.ts';
import type { Address } from '../compose/listener/listeners.ts';
import { isLoopback } from '../settings/compile/networks.ts';
import { HOST_VARIABLE } from '../settings/compile/server-settings.ts';
import type { Environment } from '../settings/read/references.ts';

interface OpenListeners {
  readonly data: Address;
  readonly status: Address;
  readonly server: ServerFile;
  readonly env: Environment;
}

/**
 * Describes which machines can reach the listeners, with a sentence for each that differs. The admin listener has its
 * own rules.
 */
export function reach({ data, status, server, env }: OpenListeners): string {
  const [ofData, ofStatus] = [reachOf(data.host), reachOf(status.host)];
  const reported =
    ofData === ofStatus
      ? [`Requests and status: reachable from ${ofData}.`]
      : [`Requests: reachable from ${ofData}.`, `Status: reachable from ${ofStatus}.`];
  const isClosed = [data, status].every(({ host }) => isLoopback(host));
  const hint = `To open both, set ${HOST_VARIABLE}=0.0.0.0, or name a host in server.yaml.`;
  return [...reported, ...(isClosed && !env[HOST_VARIABLE] ? [hint] : []), ...ignoredHostVariable(server, env)].join(
    ' ',
  );
}

/** @param host an address on which the gateway listens */
function reachOf(host: string): string {
  if (isLoopback(host)) return 'this machine only';
  if (host === '0.0.0.0') return 'every machine that has a route to this one (IPv4)';
  // A dual-stack socket also accepts IPv4.
  if (host === '::') return 'every machine that has a route to this one (IPv4 and IPv6)';
  return `every machine that has a route to ${host}`;
}

function ignoredHostVariable({ listen, status }: ServerFile, env: Environment): readonly string[] {
  const wanted = env[HOST_VARIABLE]?.trim();
  if (!wanted) return [];
  const named = Object.entries({ listen, status }).filter(([, at]) => at?.host !== undefined && at.host !== wanted);
  return named.map(
    ([name, at]) => `${HOST_VARIABLE} has no effect on \`${name}\`: server.yaml sets the host ${at?.host}.`,
  );
}
