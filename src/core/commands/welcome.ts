import type { CatalogEntry, ServerFile } from '../../../schemas/types.generated.ts';
import type { Address } from '../http/listener/listeners.ts';
import { portOf, type ProcessPart } from '../process/process-part.ts';
import type { Settings } from '../settings/read/load.ts';
import type { Environment } from '../settings/values/references.ts';
import { shellWord } from './terminal/output.ts';
import { headerPrefixes, HOST_VARIABLE } from '../settings/compile/server-settings.ts';
import { isLoopback, reachableHost } from '../settings/compile/networks.ts';

/** The key of the sample settings, public, for loopback and the simulator. No other key is ever printed. */
const DEMO_KEY = 'gatehouse-demo-key';

interface Started {
  readonly data: Address;
  readonly status: Address;
  readonly admin: Address | undefined;
  readonly settings: Pick<Settings, 'server' | 'catalog' | 'keys'>;
  /** One of them may have the console. */
  readonly parts: readonly ProcessPart[];
}

/** The text for a new user: the addresses, who can reach them, and a curl line to paste. */
export function welcome(started: Started, env: Environment = {}): string {
  const { data, status, admin, settings, parts } = started;
  const { catalog, keys, server } = settings;
  // The demo key may use the simulator only.
  const entry = catalog.providers.find(isSimulator) ?? catalog.providers[0];
  const key = keys.keys.some((one) => one.key?.reveal() === DEMO_KEY) ? DEMO_KEY : 'YOUR_GATEWAY_KEY';
  const [prefix] = headerPrefixes(server);
  const reported = admin ? `; request records (/admin/v1/requests) on ${admin.url}` : '';
  const page = admin && portOf(parts, 'console') ? `Console: ${pageUrl(admin)}\n` : '';
  return `${page}Gatehouse listens on ${data.url}; status (/metrics, /livez, /readyz) on ${status.url}${reported}
${reach(started, env)}
Try it:

  curl ${shellWord(`${new URL(data.url).protocol}//${reachableHost(data.host)}:${data.port}/v1/chat/completions`)} -H '${prefix}api-key: ${key}' -H 'content-type: application/json' -d '${body(entry)}'

`;
}

const pageUrl = ({ url, host, port }: Address): string =>
  `${new URL(url).protocol}//${reachableHost(host)}:${port}/ui/`;

function body(entry: CatalogEntry | undefined): string {
  return JSON.stringify({
    model: `@${entry?.slug ?? 'SLUG'}/${model(entry)}`,
    // Claude requires a limit; other models accept one.
    ...(!(entry && isSimulator(entry)) && { max_tokens: 1000 }),
    messages: [{ role: 'user', content: 'Hello' }],
  });
}

function model(entry: CatalogEntry | undefined): string {
  const listed = entry?.models?.find((name) => !/[*']/.test(name));
  if (listed !== undefined) return listed;
  return entry && isSimulator(entry) && !entry.models ? 'demo' : 'MODEL';
}

/** As text: a build without the simulator has no entry of that type. */
const SIMULATOR: string = 'simulator';
const isSimulator = ({ provider }: CatalogEntry): boolean => provider === SIMULATOR;

/** Which machines can reach the listeners. The admin listener has its own rules. */
function reach({ data, status, settings: { server } }: Started, env: Environment): string {
  const [ofData, ofStatus] = [reachOf(data.host), reachOf(status.host)];
  const reported =
    ofData === ofStatus
      ? [`Requests and status: reachable from ${ofData}.`]
      : [`Requests: reachable from ${ofData}.`, `Status: reachable from ${ofStatus}.`];
  const isClosed = [data, status].every(({ host }) => isLoopback(host));
  const hint = `To open both, set ${HOST_VARIABLE}=0.0.0.0, or name a host in server.yaml.`;
  const hints = isClosed && !env[HOST_VARIABLE] ? [hint] : [];
  return [...reported, ...hints, ...ignoredHostVariable(server, env)].join(' ');
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
