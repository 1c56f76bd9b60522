import type { CatalogEntry } from '../../schemas/types.generated.ts';
import type { Address } from '../compose/listener/listeners.ts';
import type { Settings } from '../settings/read/load.ts';
import type { Environment } from '../settings/read/references.ts';
import { reach } from './reach.ts';
import { shellWord } from './shell-word.ts';
import { headerPrefixes } from '../settings/compile/server-settings.ts';

/**
 * The key of the sample settings. It is public, and limited to loopback and the simulator. No other key is ever
 * printed.
 */
const DEMO_KEY = 'gatehouse-demo-key';

interface Started {
  readonly data: Address;
  readonly status: Address;
  readonly admin: Address | undefined;
  readonly settings: Pick<Settings, 'server' | 'catalog' | 'keys'>;
}

/** The text for a new user: the addresses, who can reach them, and a curl line to paste. */
export function welcome({ data, status, admin, settings }: Started, env: Environment = {}): string {
  const { catalog, keys, server } = settings;
  // The demo key may use the simulator only.
  const entry = catalog.providers.find(({ provider }) => provider === 'simulator') ?? catalog.providers[0];
  const key = keys.keys.some((one) => one.key?.reveal() === DEMO_KEY) ? DEMO_KEY : 'YOUR_GATEWAY_KEY';
  const [prefix] = headerPrefixes(server);
  const reported = admin ? `; request records (/admin/v1/requests) on ${admin.url}` : '';
  return `Gatehouse listens on ${data.url}; status (/metrics, /livez, /readyz) on ${status.url}${reported}
${reach({ data, status, server, env })}
Try it:

  curl ${shellWord(`${reachable(data)}/v1/chat/completions`)} -H '${prefix}api-key: ${key}' -H 'content-type: application/json' -d '${body(entry)}'

`;
}

/** Replaces an any-address by loopback: not every system can connect to 0.0.0.0. */
function reachable({ host, port, url }: Address): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  return host === '::' ? `http://[::1]:${port}` : url;
}

function body(entry: CatalogEntry | undefined): string {
  return JSON.stringify({
    model: `@${entry?.slug ?? 'SLUG'}/${model(entry)}`,
    // Claude requires a limit; other models accept one.
    ...(entry?.provider !== 'simulator' && { max_tokens: 1000 }),
    messages: [{ role: 'user', content: 'Hello' }],
  });
}

function model(entry: CatalogEntry | undefined): string {
  const listed = entry?.models?.find((name) => !/[*']/.test(name));
  if (listed !== undefined) return listed;
  return entry?.provider === 'simulator' && !entry.models ? 'demo' : 'MODEL';
}
