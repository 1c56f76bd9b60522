import type { DestinationStream, Logger } from 'pino';
import { builtinPlugins } from '../../plugins/index.ts';
import { ModelLabels } from '../catalog/model-labels.ts';
import { PluginRegistry } from '../chain/registry.ts';
import { operations } from '../operations/index.ts';
import { systemClock, type Clock } from '../plugin/index.ts';
import type { Diagnostic } from '../settings/diagnostic.ts';
import { loadSettled } from '../settings/load-settled.ts';
import type { LoadResult, Settings } from '../settings/load.ts';
import { compileServerSettings, type ServerSettings } from '../settings/server-settings.ts';
import { SettingsWatch, watchFolder, type WatchFolder } from '../settings/watch.ts';
import { TokenStore } from '../state/tokens.ts';
import { createAccessLog, type AccessLog } from '../telemetry/access-log.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createRecorder } from '../telemetry/recorder.ts';
import { createMetrics, type Metrics } from '../telemetry/registry.ts';
import { startTracing, type Tracing } from '../telemetry/tracing.ts';
import { createUpstream, type Lookup, type Upstream } from '../upstream/index.ts';
import { ReplyStores } from './cached-replies.ts';
import { createDataServer, setTimeouts } from './data-server.ts';
import { LiveSnapshot } from './live-snapshot.ts';
import { close, listen, type Address } from './listeners.ts';
import { loadPluginModules, moduleVersions } from './plugin-modules.ts';
import { Reloader, type InForce, type ReloadResult } from './reload.ts';
import { createRequestPath } from './request-path.ts';
import { compileSnapshot, type Shared, type Snapshot } from './snapshot.ts';
import { createStatusServer } from './status.ts';
import { version } from './version.ts';

export interface GatewayOptions {
  /** Folder of the settings. */
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Injected by tests; the system's otherwise. */
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly lookup?: Lookup;
  readonly logTo?: DestinationStream;
  readonly watchFolder?: WatchFolder;
}

export interface Gateway {
  readonly data: Address;
  readonly status: Address;
  /** What the files say that serve now. */
  readonly settings: Settings;
  /** What is doubtful in the files, and no reason not to start. */
  readonly warnings: readonly Diagnostic[];
  readonly metrics: Metrics;
  readonly upstream: Upstream;
  /** Reads the settings anew. Never rejects: what is wrong with them is in the result, and those before them still serve. */
  reload(): Promise<ReloadResult>;
  /** Stops listening, lets running replies end, at most `graceMs`, then lets go of everything. */
  close(graceMs?: number): Promise<void>;
}

/** The settings cannot be used; `diagnostics` says why, each with its place. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostics: readonly Diagnostic[]) {
    super('The settings have errors.');
    this.diagnostics = diagnostics;
  }
}

/** What checking settings needs of the world: the same compilation as a start, but nothing is opened and nothing listens. */
export async function checkSettings(loaded: LoadResult, configs: string): Promise<void> {
  const clock = systemClock;
  const log = createLogger({ level: 'silent' });
  const metrics = createMetrics({ clock, build: version(), routes: [], process: false });
  const upstream = createUpstream({ clock });
  // Nothing is opened: what entries leave to the environment is not asked for.
  const parts: Parts = { configs, env: {}, clock, log, metrics, upstream, tracing: undefined, random: Math.random };
  const snapshot = await compileWith(createLasting(parts), loaded, configs);
  await snapshot?.close();
  await upstream.close();
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { configs, env, clock = systemClock, random = Math.random, lookup, logTo } = options;
  const { loaded, files } = await loadSettled(configs, { env, clock, pauseMs: START_PAUSE_MS });
  const { settings } = loaded;
  if (!settings) throw new SettingsRefused(loaded.diagnostics);
  const server = compileServerSettings(settings.server);
  const log = createLogger({ level: server.telemetry.log.level, clock, ...(logTo && { destination: logTo }) });
  const metrics = createMetrics({ clock, build: version(), routes: [...new Set(operations.map(({ path }) => path))] });
  const upstream = createUpstream({ clock, ...(lookup && { lookup }) });
  const tracing = await startTracing({ env, yaml: settings.server.telemetry?.traces, version: version().version, log });

  const parts: Parts = { configs, env, clock, log, metrics, upstream, tracing, random };
  const lasting = createLasting(parts);
  lasting.apply(server);
  const modules = moduleVersions(settings.server.plugins ?? [], configs);
  const snapshot = await compileWith(lasting, loaded, configs);
  if (!snapshot) {
    await Promise.all([upstream.close(), tracing?.shutdown()]);
    throw new SettingsRefused(loaded.diagnostics);
  }
  try {
    await snapshot.open();
  } catch (error) {
    await Promise.all([snapshot.close(), upstream.close(), tracing?.shutdown()]);
    // What an entry found missing stands among the diagnostics, at its place.
    throw loaded.ok ? error : new SettingsRefused(loaded.diagnostics);
  }
  metrics.settingsLoaded(
    snapshot.hash,
    settings.catalog.providers.map(({ slug }) => slug),
  );
  const inForce: InForce = { settings, warnings: loaded.diagnostics, files, modules };
  return serve({ ...parts, lasting, snapshot, inForce, watchFolder: options.watchFolder ?? watchFolder });
}

/** A file that is missing at the start may be one that a deployment is just putting there. */
const START_PAUSE_MS = 100;

interface Parts {
  readonly configs: string;
  readonly env: GatewayOptions['env'];
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly metrics: Metrics;
  readonly upstream: Upstream;
  readonly tracing: Tracing | undefined;
}

/** What outlives snapshots, made once. */
interface Lasting {
  readonly shared: Omit<Shared, 'registry'>;
  /** What of it the settings can change while it lives. */
  apply(server: ServerSettings): void;
}

function createLasting({ env, clock, log, random, metrics, upstream, tracing }: Parts): Lasting {
  let accessLog: AccessLog = () => {};
  const recorder = createRecorder({
    clock,
    metrics,
    log,
    accessLog: (summary, spanId) => accessLog(summary, spanId),
    tracer: tracing?.tracer,
  });
  return {
    shared: {
      env,
      clock,
      log,
      random,
      upstream,
      tokens: new TokenStore(clock),
      replies: new ReplyStores({ clock, ...metrics.replyCache }),
      tokenFetched(slug, error) {
        metrics.tokenRefreshed(slug, error ? 'failure' : 'success');
        if (error) log.warn({ provider: slug, reason: error instanceof Error ? error.message : '' }, 'no access token');
      },
      recorder,
      labels: new ModelLabels(),
    },
    apply({ telemetry }) {
      log.level = telemetry.log.level;
      accessLog = createAccessLog({ log, mode: telemetry.log.access });
    },
  };
}

/** Plugins come with the settings: a module that is not listed any more is not there any more. */
async function compileWith({ shared }: Lasting, loaded: LoadResult, configs: string): Promise<Snapshot | undefined> {
  const registry = await loadPluginModules(new PluginRegistry(builtinPlugins), loaded, {
    folder: configs,
    clock: shared.clock,
  });
  return compileSnapshot(loaded, { ...shared, registry });
}

interface ServeParts extends Parts {
  readonly lasting: Lasting;
  readonly snapshot: Snapshot;
  readonly inForce: InForce;
  readonly watchFolder: WatchFolder;
}

async function serve(parts: ServeParts): Promise<Gateway> {
  const { clock, log, metrics, lasting, upstream, tracing } = parts;
  const live = new LiveSnapshot(parts.snapshot, () => {
    // What only the old settings named is of no use any more.
    lasting.shared.tokens.retain(live.tokenKeys);
    upstream.settingsChanged();
  });
  let draining = false;
  const data = createDataServer(createRequestPath({ live, clock, log }), live.current.server, clock);
  const status = createStatusServer({
    metrics,
    clock,
    isReady: () => (draining ? { ready: false, reasons: ['draining'] } : { ready: true, reasons: [] }),
  });
  const reloader = createReloader(parts, live, ({ server }) => {
    lasting.apply(server);
    setTimeouts(data, server);
  });
  const stop = async (): Promise<void> => {
    reloader.stop();
    await live.close();
    await Promise.all([upstream.close(), tracing?.shutdown()]);
  };

  const addresses: Address[] = [];
  try {
    addresses.push(await listen(data, live.current.server.listen), await listen(status, live.current.server.status));
  } catch (error) {
    await Promise.all([data, status].map((one) => close(one, 0, clock)));
    await stop();
    throw error;
  }
  await reloader.watch();
  return {
    data: addresses[0]!,
    status: addresses[1]!,
    get settings() {
      return reloader.inForce.settings;
    },
    get warnings() {
      return reloader.inForce.warnings;
    },
    metrics,
    upstream,
    reload: reloader.reload,
    async close(graceMs = 0) {
      draining = true;
      reloader.stop();
      await close(data, graceMs, clock);
      await close(status, 0, clock);
      await stop();
    },
  };
}

function createReloader(
  { configs, env, clock, log, metrics, lasting, inForce, watchFolder }: ServeParts,
  live: LiveSnapshot,
  onSwap: (snapshot: Snapshot) => void,
): Reloader {
  const watch = new SettingsWatch({
    clock,
    watchFolder,
    onChange: () => void reloader.reload(),
    onBlind: (folder, err) =>
      log.warn({ err, folder }, 'this folder cannot be watched; SIGHUP reads the settings anew'),
  });
  const compile = (loaded: LoadResult) => compileWith(lasting, loaded, configs);
  const reloader = new Reloader({ configs, env, clock, log, metrics, live, watch, compile, onSwap }, inForce);
  return reloader;
}
