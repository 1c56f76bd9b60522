import { compileCatalog, type Catalog, type CatalogEntry } from '../../core/catalog/catalog.ts';
import { withinTime } from '../../core/compose/time-limit.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { systemClock } from '../../core/kernel/system-clock.ts';
import type { Environment } from '../../core/settings/values/references.ts';
import type { Settings } from '../../core/settings/read/load.ts';
import { compileServerSettings } from '../../core/settings/compile/server-settings.ts';
import { MemoryTokenStore } from '../../core/memory/tokens.ts';
import { createUpstream, type Lookup } from '../../core/upstream/index.ts';
import type { Origin, OutboundWay, Upstream } from '../../core/upstream/types.ts';
import { openOnce } from '../../core/upstream/connection.ts';
import { checkOrigin, systemLookup } from '../../core/upstream/egress.ts';
import { networkWire } from '../../core/upstream/pool.ts';
import { createRoutes } from '../../core/upstream/route.ts';
import { UpstreamError } from '../../plugin/index.ts';
import { proveCredentials } from './prove.ts';
import { error, ok, skipped, warning, type Finding } from '../../core/process/finding.ts';

/** A build may lack it. */
const SIMULATOR: string = 'simulator';

interface UpstreamChecks {
  readonly settings: Settings;
  readonly outbound: OutboundWay;
  readonly env: Environment;
  readonly timeoutMs: number;
  /** Sends each provider the cheapest call that proves the credentials of its entry. */
  readonly probes: boolean;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
}

/** One model of each kind: where a provider is depends on the model for some of them. */
export const SAMPLES = ['gpt-6-sol', 'claude-sonnet-5-5', 'gemini-3.8-flash', 'text-embedding-005'];
export const MAX_SKEW_MS = 30_000;

interface TestedCalls {
  readonly upstream: Upstream;
  readonly timeoutMs: number;
  /** Gets how far the clock of each server is behind, in milliseconds. */
  readonly skews: number[];
}

/** The catalog of settings, whose own calls (access tokens) are those of a test. */
export function catalogOf(
  { settings, env }: Pick<UpstreamChecks, 'settings' | 'env'>,
  { upstream, timeoutMs, skews }: TestedCalls,
): Catalog {
  return compileCatalog(settings.catalog, {
    async upstreamExchange(request) {
      const reply = await upstream.exchange({ ...request, timeoutMs: Math.min(request.timeoutMs, timeoutMs) });
      // A Date has whole seconds.
      const theirs = Date.parse(reply.headers['date'] ?? '');
      if (!Number.isNaN(theirs)) skews.push(systemClock.wall() - theirs);
      return reply;
    },
    clock: systemClock,
    tokens: new MemoryTokenStore(systemClock),
    tokenFetched() {},
    env,
    tokenUris: new Set(compileServerSettings(settings.server).egress.tokenUris),
    // The settings check has reported them.
    report() {},
  });
}

/** Fetches access tokens and connects to each provider, all at the same time. Without `probes` it sends no request. */
export async function checkUpstreams(checks: UpstreamChecks): Promise<readonly Finding[]> {
  const { settings, outbound, timeoutMs, probes, lookup } = checks;
  const upstream = createUpstream({ clock: systemClock, ...(lookup && { lookup }) });
  upstream.apply(outbound);
  const skews: number[] = [];
  const catalog = catalogOf(checks, { upstream, timeoutMs, skews });
  const isSimulator = ({ provider }: CatalogEntry): boolean =>
    settings.catalog.providers.some(
      (one) => one.slug === provider.slug && one.provider === SIMULATOR && !('base_url' in one && one.base_url),
    );
  const entries = catalog.entries.filter((entry) => !isSimulator(entry));
  const probe = createProbe(checks);
  try {
    const found = await Promise.all([
      ...entries.map((entry) => checkCredentials(entry, { catalog, timeoutMs }, probes ? upstream : undefined)),
      ...[...originsOf(entries)].map(([url, { allowInsecure, slugs }]) =>
        checkAddress(url, slugs, () => probe({ url, allowInsecure })),
      ),
    ]);
    return [...found, clockFinding(skews)];
  } finally {
    await upstream.close();
  }
}

/** Headers of a request. Credentials that Google's libraries find on the machine are looked for first. */
export async function credentialsOf(
  provider: CatalogEntry['provider'],
  catalog: Pick<Catalog, 'open'>,
): Promise<Readonly<Record<string, string>>> {
  await catalog.open((one) => one === provider);
  return provider.authorize({ upstreamToken: undefined });
}

async function checkCredentials(
  { provider }: CatalogEntry,
  { catalog, timeoutMs }: { readonly catalog: Catalog; readonly timeoutMs: number },
  probed: Pick<Upstream, 'exchange'> | undefined,
): Promise<Finding> {
  const check = `credentials @${provider.slug}`;
  let credentials: Readonly<Record<string, string>>;
  try {
    if (provider.usesCallersToken) return skipped(check, 'callers bring their own token');
    credentials = await withinTime(credentialsOf(provider, catalog), timeoutMs, systemClock);
  } catch (failure) {
    return error(check, messageOf(failure));
  }
  if (probed) return proveCredentials({ check, provider, credentials }, probed.exchange.bind(probed), timeoutMs);
  if (provider.tokenKey !== undefined) return ok(check, 'an access token was fetched');
  return ok(check, 'given; none was sent: --probe shows whether the provider accepts them');
}

interface ReachedOrigin {
  readonly allowInsecure: boolean;
  readonly slugs: string[];
}

function originsOf(entries: readonly CatalogEntry[]): ReadonlyMap<string, ReachedOrigin> {
  const origins = new Map<string, ReachedOrigin>();
  for (const { provider } of entries) {
    const slug = `@${provider.slug}`;
    for (const url of new Set(SAMPLES.flatMap((model) => originOf(provider, model)))) {
      const known = origins.get(url);
      if (known) known.slugs.push(slug);
      else origins.set(url, { allowInsecure: provider.allowInsecure, slugs: [slug] });
    }
  }
  return origins;
}

/** Empty for a model that the entry does not serve. */
export function originOf(provider: CatalogEntry['provider'], model: string): readonly string[] {
  try {
    return [provider.locate(model, { task: 'generate', stream: false }).origin];
  } catch {
    return [];
  }
}

async function checkAddress(
  url: string,
  slugs: readonly string[],
  probe: () => Promise<{ readonly isProxied: boolean }>,
): Promise<Finding> {
  const check = `address ${url}`;
  try {
    const { isProxied } = await probe();
    return ok(check, `${slugs.join(', ')}: reached${isProxied ? ' through the proxy' : ''}, nothing sent`);
  } catch (failure) {
    return error(check, `${slugs.join(', ')}: ${messageOf(failure)}`);
  }
}

function clockFinding(skews: readonly number[]): Finding {
  const [skew] = skews;
  if (skew === undefined) return skipped('clock', 'no token endpoint has answered, whose Date could be compared');
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= MAX_SKEW_MS) return ok('clock', `within ${seconds} s of a token endpoint`);
  return warning(
    'clock',
    `${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} a token endpoint: tokens and certificates are refused when the clock is wrong`,
  );
}

/** Connects as requests would, through the guard, the proxy and TLS, and closes at once. Sends nothing. */
export function createProbe({ outbound, lookup = systemLookup, timeoutMs }: UpstreamChecks) {
  const clock = systemClock;
  const wire = networkWire(outbound.ca);
  const routes = createRoutes(outbound);
  /** Rejects with GatewayError. `isProxied`: of an http upstream only the proxy was reached. */
  return async (origin: Pick<Origin, 'url' | 'allowInsecure'>): Promise<{ readonly isProxied: boolean }> => {
    const { allowInsecure } = origin;
    const url = checkOrigin({ ...origin, connections: 1 });
    const proxy = routes.proxyFor(url);
    const context = { clock, lookup, wire, proxy, allowInsecure, metadataServer: false, chosenByCaller: false };
    const { opened, abandon } = openOnce(context, url);
    const stop = clock.after(timeoutMs, () =>
      abandon(new UpstreamError('timeout_connect', `${url.host} did not answer within ${timeoutMs} ms.`)),
    );
    try {
      (await opened).on('error', () => {}).destroy();
      return { isProxied: proxy !== undefined };
    } finally {
      stop();
    }
  };
}
