import type { Settings } from '../settings/read/load.ts';
import type { DestinationStream, Logger } from 'pino';
import { ModelLabels, type ModelNames } from '../catalog/model-labels.ts';
import { compileBodySchemas } from '../operations/body-schema.ts';
import { operations } from '../operations/index.ts';
import { systemClock, type Clock } from '../plugin/index.ts';
import { diskFiles, type SettingsFiles } from '../settings/source/files.ts';
import { loadSettled } from '../settings/source/load-settled.ts';
import { PriceList } from '../prices/price-list.ts';
import { compilePrices } from '../settings/compile/prices.ts';
import { metadataLabels } from '../settings/compile/metadata-labels.ts';
import { compileServerSettings } from '../settings/compile/server-settings.ts';
import { watchFolder, type WatchFolder } from '../settings/source/watch.ts';
import { createLogger } from '../record/log/logger.ts';
import { EndedRequests } from '../record/ended-requests.ts';
import { openLogOutput, type LogOutput } from '../record/log/log-output.ts';
import { createMetrics, type Metrics } from '../record/metrics/registry.ts';
import { startTracing } from '../record/traces/tracing.ts';
import type { CounterSource } from '../governance/keeper.ts';
import type { ResponseStore } from '../state/ports.ts';
import { createUpstream, type Lookup } from '../upstream/index.ts';
import { compileWith, createProcessState, type ProcessParts } from './process-state.ts';
import type { WorkerPool, WorkerPoolTools, ProcessRole, Gateway, WorkerGateway } from './running-gateway.ts';
import { moduleVersions } from '../compose/plugin-modules.ts';
import type { InForce } from './reload.ts';
import { serve } from './serving.ts';
import { version } from '../version.ts';
import type { Watch } from '../compose/chain-builder.ts';
import { SettingsRefused } from '../settings/problems/diagnostic.ts';

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
  /** Source of the settings files and of the files they name. Default: the disk. */
  readonly files?: SettingsFiles;
  /** Hooks around plugins and their capabilities. Injected by tests. */
  readonly watch?: Watch;
  /** Replaces the port of the settings. */
  readonly port?: number | undefined;
  /** The responses that requests continue. Default: this process keeps them. */
  readonly responses?: ResponseStore;
  /** Where several processes count budgets together. Default: this process counts alone. */
  readonly budgets?: CounterSource;
  /** Decides which model names are labels of metrics. Default: this process decides. */
  readonly models?: ModelNames;
}

export const startGateway = (options: GatewayOptions): Promise<Gateway> => start(options, { kind: 'alone' });

/** Starts one of several serving processes. The primary has the other listeners. */
export const startWorker = (options: GatewayOptions, id: number): Promise<WorkerGateway> =>
  start(options, { kind: 'worker', id });

/** Starts the primary. `data` is the address of its workers. */
export const startPrimary = (
  options: GatewayOptions,
  workers: (tools: WorkerPoolTools) => WorkerPool,
): Promise<Gateway> => start(options, { kind: 'primary', workers });

async function start(options: GatewayOptions, role: ProcessRole): Promise<Gateway & WorkerGateway> {
  const { configs, env, clock = systemClock, random = Math.random, lookup, logTo } = options;
  const source = options.files ?? diskFiles;
  const { loaded, files } = await loadSettled(configs, { env, clock, files: source, pauseMs: START_PAUSE_MS });
  const { settings } = loaded;
  if (!settings) throw new SettingsRefused(loaded.diagnostics);
  const server = compileServerSettings(settings.server);
  const worker = role.kind === 'worker' ? role.id : undefined;
  const ended = new EndedRequests(clock);
  const routes = [...new Set(operations.map(({ path }) => path))];
  const metrics = createMetrics({ clock, build: version(), routes, flush: ended.flush });
  const output = logTo ? directOutput(logTo) : logOutput(role, metrics, ended, () => log);
  const log = createLogger({ level: server.telemetry.log.level, clock, worker, destination: output });
  const upstream = createUpstream({
    clock,
    ...(lookup && { lookup }),
    onWaiting: (change) => metrics.families.poolWaiting.add({}, change),
  });
  const tracing = await startTracing({ env, yaml: settings.server.telemetry?.traces, version: version().version, log });

  const models = options.models ?? new ModelLabels({ now: () => clock.now() });
  const parts: ProcessParts = {
    configs,
    env,
    clock,
    log,
    accessLines: { write: (line) => output.writeSoon(line), worker },
    metrics,
    ended,
    models,
    upstream,
    tracing,
    responses: options.responses,
    budgets: options.budgets,
    random,
    watch: options.watch,
  };
  const processState = createProcessState(parts);
  processState.apply({ server, ...recordedWith(settings) });
  const modules = moduleVersions(settings.server.plugins ?? [], configs);
  const snapshot = await compileWith(processState, loaded, configs, files);
  if (!snapshot) {
    await Promise.all([upstream.close(), tracing?.shutdown()]);
    throw new SettingsRefused(loaded.diagnostics);
  }
  if (role.kind !== 'primary') compileBodySchemas();
  try {
    await snapshot.open();
  } catch (error) {
    await Promise.all([snapshot.close(), upstream.close(), tracing?.shutdown()]);
    // Missing values of catalog entries are diagnostics with a place.
    throw loaded.ok ? error : new SettingsRefused(loaded.diagnostics);
  }
  metrics.settingsLoaded(
    snapshot.hash,
    settings.catalog.providers.map(({ slug }) => slug),
  );
  const inForce: InForce = { settings, warnings: loaded.diagnostics, files, modules };
  const { watchFolder: watcher = watchFolder, port } = options;
  const own = { source, role, port, watchFolder: watcher };
  return serve({ ...parts, processState, snapshot, inForce, ...own });
}

/** Writes the log to standard output. Dropped lines are counted, and logged once output resumes. */
function logOutput(role: ProcessRole, { families }: Metrics, ended: EndedRequests, log: () => Logger): LogOutput {
  return openLogOutput({
    onExit: ended.flush,
    shared: role.kind !== 'alone',
    onDrop: (reason, lines) => families.logLinesDropped.add({ reason }, lines),
    onRecover: (dropped) => log().error({ dropped }, 'log lines were dropped; writing has resumed'),
  });
}

const directOutput = (destination: DestinationStream): LogOutput => ({
  write: (line) => destination.write(line),
  writeSoon: (line) => destination.write(line),
});

/** Pause before reading again: a file missing at the start may be part of a running deployment. */
const START_PAUSE_MS = 100;

/** What records of requests take from the settings. */
const recordedWith = ({ server, keys, prices, teams }: Settings) => ({
  metadataLabels: metadataLabels(server, keys, teams),
  prices: new PriceList(compilePrices(prices)),
});
