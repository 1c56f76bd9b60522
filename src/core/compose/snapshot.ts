import { compileCatalog } from '../catalog/catalog.ts';
import type { Chain } from '../http/chain/instance.ts';
import type { Clock, PluginLevel } from '../../plugin/index.ts';
import { changeChains, isChanges } from '../http/chain/chain-changes.ts';
import { pluginOf } from '../http/chain/list-part.ts';
import type { ChainItem } from '../http/chain/compile.ts';
import { PLUGIN_LEVELS } from '../kernel/define.ts';
import { nearest } from '../kernel/index.ts';
import type { Report } from '../kernel/report.ts';
import type { LoadResult, Settings } from '../settings/read/load.ts';
import type { MetadataLabel } from '../record/metrics/caller-labels.ts';
import { createNetworkTest } from '../settings/compile/networks.ts';
import { compileServerSettings, type ServerSettings } from '../settings/compile/server-settings.ts';
import type { ProviderEntry } from '../providers/provider.ts';
import { HeaderNames } from '../http/gateway/header-names.ts';
import type { PathSettings } from '../http/gateway/path-settings.ts';
import { measuringPlugins } from './plugin-metrics.ts';
import { PluginTimes, timingSources } from './server-timing.ts';
import { Tenancy } from './tenancy.ts';
import { TimeLimitPassed, withinTime } from './time-limit.ts';
import { ChainBuilder, serverChain } from './chain-builder.ts';
import { admitting, methodsOf } from './entry-gate.ts';
import type { Shared, SnapshotPart } from './snapshot-part.ts';
import { compileChains, type ChainParts } from './snapshot-chains.ts';
import type { ServerFile } from '../../../schemas/types.generated.ts';

/** The compiled settings, immutable. A request keeps the snapshot it began with. */
export interface Snapshot extends PathSettings {
  readonly server: ServerSettings;
  metadataLabels(): readonly MetadataLabel[];
  /** The organizations, teams and keys. The state store changes them while the chains stay. */
  readonly tenancy: Pick<Tenancy, 'apply' | 'catchUp' | 'current'>;
  /** The prices in force. Undefined: this build has none. */
  readonly prices: SnapshotPart['prices'] | undefined;
  /** The access tokens that the catalog may need. Some entries know theirs only after `open`. */
  readonly tokenKeys: ReadonlySet<string>;
  /**
   * Opens the catalog's entries; awaited before the snapshot goes live.
   * @param which filters the entries. Default: all.
   */
  open(which?: (entry: ProviderEntry) => boolean): Promise<void>;
  /** Runs the closing tasks of its plugins. */
  close(): Promise<void>;
}

/** Limit for opening all entries together: some retry a metadata server that is still starting. */
const OPEN_LIMIT_MS = 45_000;

/** Compiles settings and reports problems in `loaded`. Undefined: one is an error. Only plugins do I/O. */
export async function compileSnapshot(loaded: LoadResult, shared: Shared): Promise<Snapshot | undefined> {
  const { settings } = loaded;
  if (!settings) return undefined;
  const compiled = compileServerSettings(settings.server);
  const tenancy = new Tenancy(loaded, settings, shared);
  const catalog = compileCatalog(settings.catalog, {
    upstreamExchange: shared.upstream.exchange,
    clock: shared.clock,
    tokens: shared.tokens,
    tokenFetched: shared.tokenFetched,
    env: shared.env,
    tokenUris: new Set(compiled.egress.tokenUris),
    report: loaded.reporter('catalog.yaml'),
  });
  const inputs = { loaded, settings, server: compiled, catalog, tenancy, files: shared.files, shared };
  const parts = shared.parts.flatMap((part) => part.compose?.(inputs) ?? []);
  const server = withDefaultPlugins(compiled, settings.server, parts, loaded.reporter('server.yaml'));
  const sources = timingSources(settings);
  const pluginTimes = sources.stored || sources.inline ? new PluginTimes(shared.clock, sources) : undefined;
  const measuring = measuringPlugins(shared.watch, server.telemetry.metrics.plugins, shared);
  const watch = admitting(
    {
      inFlight: shared.inFlight,
      methods: methodsOf(serverChain(server, 'entry'), shared.registry, loaded.reporter('server.yaml')),
      tree: tenancy.tree,
      answers: new Map(parts.flatMap(({ answers }) => [...(answers ?? [])])),
      refuseAddress: parts.find((part) => part.refuseAddress)?.refuseAddress,
    },
    pluginTimes ? pluginTimes.around(measuring) : measuring,
  );
  const chainBuilder = new ChainBuilder(loaded, {
    ...shared,
    callers: {
      keys: tenancy.keys,
      tenants: () => tenancy.current,
      entry: new Set(server.chains.entry.map(pluginOf)),
    },
    watch,
    pluginMs: server.limits.pluginMs,
    pluginReports: server.telemetry.metrics.plugins === 'off' ? undefined : shared.pluginReports,
    maxReplyBytes: server.limits.reply,
  });
  const replies = shared.replies.prepare(server.cache);
  const health = shared.health.directory();
  const compilation = { tenancy, server, catalog, parts, chainBuilder, shared, replies, pluginTimes, health };
  try {
    const entry = await compileChains(settings, compilation);
    if (loaded.ok && entry) return createSnapshot(loaded, settings, compilation, entry.run);
  } catch (error) {
    await chainBuilder.close();
    throw error;
  }
  await chainBuilder.close();
  return undefined;
}

interface Compilation extends ChainParts {
  readonly pluginTimes: PluginTimes | undefined;
}

function createSnapshot(loaded: LoadResult, settings: Settings, parts: Compilation, entry: Chain): Snapshot {
  const { server, tenancy, catalog, chainBuilder, shared } = parts;
  return {
    hash: settings.hash,
    server,
    metadataLabels: () => tenancy.metadataLabels(),
    tenancy,
    prices: parts.parts.find((part) => part.prices)?.prices,
    costHeader: parts.parts.find((part) => part.costHeader)?.costHeader,
    headerNames: new HeaderNames(server.headerPrefixes),
    isTrustedProxy: server.trustedProxies.length === 0 ? undefined : createNetworkTest(server.trustedProxies),
    entry,
    pluginTimes: parts.pluginTimes,
    // Some keys are known only after `open`.
    get tokenKeys() {
      return new Set(catalog.entries.flatMap(({ provider }) => provider.tokenKey ?? []));
    },
    async open(which) {
      chainBuilder.setLogLevel(server.telemetry.log.level);
      await openCatalog(catalog.open(which), loaded, shared.clock);
      shared.replies.use(parts.replies);
      tenancy.catchUp(shared.stored?.());
      for (const part of parts.parts) part.use?.();
      parts.health.use();
    },
    close() {
      for (const part of parts.parts) part.close?.();
      return chainBuilder.close();
    },
  };
}

async function openCatalog(opening: Promise<void>, loaded: LoadResult, clock: Clock): Promise<void> {
  try {
    await withinTime(opening, OPEN_LIMIT_MS, clock);
  } catch (error) {
    if (error instanceof TimeLimitPassed)
      loaded.reporter('catalog.yaml')({ path: ['providers'], message: `cannot open these entries: ${error.message}` });
    throw error;
  }
}

/** The default chains with the plugins of the add-ons, and then with the changes of server.yaml. A list stays as it is. */
function withDefaultPlugins(
  server: ServerSettings,
  { chains = {} }: Pick<ServerFile, 'chains'>,
  parts: readonly SnapshotPart[],
  report: Report,
): ServerSettings {
  const plugins = parts.flatMap((part) => part.plugins ?? []);
  const completed = PLUGIN_LEVELS.map((level) => {
    const written = chains[level];
    if (written && !isChanges(written)) return { level, items: server.chains[level], indexes: undefined };
    const items = [...server.chains[level]];
    for (const { name, before, level: at, always } of plugins)
      if (at === level && items.includes(before))
        items.splice(items.indexOf(before), 0, always ? { plugin: name, always } : name);
    const base = { items, indexes: [...items.keys()] };
    const list = { file: 'server.yaml', path: ['chains', level] };
    // The last plugin of a default chain ends it.
    const ends = (item: ChainItem): boolean => item === items.at(-1);
    const changed =
      written && changeChains(written, { [level]: base }, report, { list, nearest, ends, always: items })[level];
    return { level, items, indexes: undefined, ...changed };
  });
  const byLevel = <T>(of: (one: (typeof completed)[number]) => T) =>
    Object.fromEntries(completed.map((one) => [one.level, of(one)])) as Record<PluginLevel, T>;
  return { ...server, chains: byLevel(({ items }) => items), chainIndexes: byLevel(({ indexes }) => indexes) };
}
