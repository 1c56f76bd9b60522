import type { Server } from 'node:http';
import type { DestinationStream, Logger } from 'pino';
import { builtinPlugins } from '../../plugins/index.ts';
import { ModelLabels } from '../catalog/model-labels.ts';
import { PluginRegistry } from '../chain/registry.ts';
import { operations } from '../operations/index.ts';
import { systemClock, type Clock } from '../plugin/index.ts';
import type { Diagnostic } from '../settings/diagnostic.ts';
import { loadSettings, type LoadResult, type Settings } from '../settings/load.ts';
import { compileServerSettings } from '../settings/server-settings.ts';
import { TokenStore } from '../state/tokens.ts';
import { createAccessLog } from '../telemetry/access-log.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createRecorder } from '../telemetry/recorder.ts';
import { createMetrics, type Metrics } from '../telemetry/registry.ts';
import { startTracing, type Tracing } from '../telemetry/tracing.ts';
import { createUpstream, type Lookup, type Upstream } from '../upstream/index.ts';
import { createDataServer } from './data-server.ts';
import { close, listen, type Address } from './listeners.ts';
import { loadPluginModules } from './plugin-modules.ts';
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
}

export interface Gateway {
  readonly data: Address;
  readonly status: Address;
  /** What the files say. */
  readonly settings: Settings;
  /** What is doubtful in the files, and no reason not to start. */
  readonly warnings: readonly Diagnostic[];
  readonly metrics: Metrics;
  readonly upstream: Upstream;
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
  const parts: Parts = {
    configs,
    clock,
    log,
    metrics,
    upstream,
    tracing: undefined,
    access: 'off',
    random: Math.random,
  };
  const snapshot = await compileSnapshot(loaded, await share(loaded, parts));
  await snapshot?.close();
  await upstream.close();
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { env, clock = systemClock, random = Math.random, lookup, logTo } = options;
  const loaded = await loadSettings(options.configs, { env, now: clock.wall() });
  if (!loaded.settings) throw new SettingsRefused(loaded.diagnostics);
  const server = compileServerSettings(loaded.settings.server);
  const log = createLogger({ level: server.telemetry.log.level, clock, ...(logTo && { destination: logTo }) });
  const metrics = createMetrics({ clock, build: version(), routes: operations.map(({ path }) => path) });
  const upstream = createUpstream({ clock, ...(lookup && { lookup }) });
  const tracing = await startTracing({
    env,
    yaml: loaded.settings.server.telemetry?.traces,
    version: version().version,
    log,
  });

  const parts: Parts = {
    configs: options.configs,
    clock,
    log,
    metrics,
    upstream,
    tracing,
    access: server.telemetry.log.access,
    random,
  };
  const snapshot = await compileSnapshot(loaded, await share(loaded, parts));
  if (!snapshot) {
    await Promise.all([upstream.close(), tracing?.shutdown()]);
    throw new SettingsRefused(loaded.diagnostics);
  }
  await snapshot.open();
  metrics.settingsLoaded(
    snapshot.hash,
    loaded.settings.catalog.providers.map(({ slug }) => slug),
  );
  return serve({ ...parts, snapshot, settings: loaded.settings, warnings: loaded.diagnostics });
}

interface Parts {
  readonly configs: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly metrics: Metrics;
  readonly upstream: Upstream;
  readonly tracing: Tracing | undefined;
  readonly access: 'all' | 'errors' | 'off';
}

/** What outlives snapshots, made once. */
async function share(
  loaded: LoadResult,
  { configs, clock, log, random, metrics, upstream, tracing, access }: Parts,
): Promise<Shared> {
  const builtins = new PluginRegistry(builtinPlugins);
  return {
    clock,
    log,
    random,
    upstream,
    tokens: new TokenStore(clock),
    tokenFetched(slug, error) {
      metrics.tokenRefreshed(slug, error ? 'failure' : 'success');
      if (error) log.warn({ provider: slug, reason: error instanceof Error ? error.message : '' }, 'no access token');
    },
    recorder: createRecorder({
      clock,
      metrics,
      log,
      accessLog: createAccessLog({ log, mode: access }),
      tracer: tracing?.tracer,
    }),
    labels: new ModelLabels(),
    registry: loaded.settings ? await loadPluginModules(builtins, loaded, configs) : builtins,
  };
}

interface ServeParts extends Parts {
  readonly snapshot: Snapshot;
  readonly settings: Settings;
  readonly warnings: readonly Diagnostic[];
}

async function serve(parts: ServeParts): Promise<Gateway> {
  const { clock, log, metrics, snapshot, settings, warnings, upstream, tracing } = parts;
  const { server } = snapshot;
  let draining = false;
  const data = createDataServer(createRequestPath({ current: () => snapshot, clock, log }), server);
  const status = createStatusServer({
    metrics,
    clock,
    isReady: () => (draining ? { ready: false, reasons: ['draining'] } : { ready: true, reasons: [] }),
  });
  const servers: readonly Server[] = [data, status];
  const addresses: Address[] = [];
  try {
    addresses.push(await listen(data, server.listen), await listen(status, server.status));
  } catch (error) {
    await Promise.all(servers.map((one) => close(one, 0, clock)));
    await Promise.all([snapshot.close(), upstream.close(), tracing?.shutdown()]);
    throw error;
  }
  return {
    data: addresses[0]!,
    status: addresses[1]!,
    settings,
    warnings,
    metrics,
    upstream,
    async close(graceMs = 0) {
      draining = true;
      await close(data, graceMs, clock);
      await close(status, 0, clock);
      await snapshot.close();
      await Promise.all([upstream.close(), tracing?.shutdown()]);
    },
  };
}
