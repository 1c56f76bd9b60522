import type { Settings } from '../settings/read/load.ts';
import type { DestinationStream, Logger } from 'pino';
import { ModelLabels, type ModelNames } from '../catalog/model-labels.ts';
import { compileBodySchemas } from '../operations/body-schema.ts';
import { systemClock, type Clock } from '../../plugin/index.ts';
import { diskFiles, withStoredObjects, type SettingsFiles } from '../settings/source/files.ts';
import { loadSettled, type SettledLoad } from '../settings/read/load-settled.ts';
import { NO_OBJECTS } from '../settings/source/stored-objects.ts';
import { compileServerSettings, type ServerSettings } from '../settings/compile/server-settings.ts';
import { watchFolder, type WatchFolder } from '../settings/source/watch.ts';
import { createLogger } from '../record/log/logger.ts';
import { RecordFiles } from '../record/files/record-files.ts';
import { EndedRequests } from '../record/ended-requests.ts';
import { openLogOutput, TeeOutput, type LogOutput } from '../record/log/log-output.ts';
import { createMetrics, type Metrics } from '../record/metrics/registry.ts';
import type { Otel, OtelOptions } from '../../addons/otlp/open-otel.ts';
import { startOtel } from '../../addons/otlp/start-otel.ts';
import type { AlertSink } from '../../addons/alerts/alert.ts';
import type { CounterSource } from '../../addons/budgets/limits/budget-accounting.ts';
import type { Entities } from '../../addons/budgets/store/entities.ts';
import type { Ledger } from '../../addons/budgets/store/ledger.ts';
import type { ResponseStore } from '../memory/ports.ts';
import { createUpstream, type Lookup } from '../upstream/index.ts';
import type { HeaderHint } from '../http/gateway/request-path.ts';
import { Alerts } from '../../addons/alerts/alerts.ts';
import { relayedAlerts, type ProcessAlerts } from '../../addons/alerts/process-alerts.ts';
import {
  compileWith,
  createProcessState,
  type CostStore,
  type ProcessParts,
  type ProcessState,
} from './process-state.ts';
import type { WorkerPool, WorkerPoolTools, ProcessRole, Gateway, WorkerGateway } from './running-gateway.ts';
import { moduleVersions } from '../compose/plugin-modules.ts';
import { newBoot } from '../../addons/budgets/state/boot.ts';
import type { InForce } from './reload.ts';
import { outboundOf } from './outbound.ts';
import type { ServeParts } from './serve-parts.ts';
import { serve } from './serving.ts';
import { countersOf, ledgerOf } from '../../addons/budgets/state/usage-counters.ts';
import { KeyUses } from '../../addons/budgets/state/key-uses.ts';
import { requireStore } from '../../addons/budgets/state/store-handle.ts';
import type { ObjectReplica } from '../../addons/budgets/state/object-replica.ts';
import type { ReconnectingStore, ReconnectingStoreSetup } from '../../addons/budgets/state/reconnecting-store.ts';
import { version } from '../kernel/version.ts';
import type { Watch } from '../compose/chain-builder.ts';
import type { Snapshot } from '../compose/snapshot.ts';
import { SettingsRefused } from '../settings/source/diagnostic.ts';

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
  /** Gets the alerts of this process. Default: this process raises them. */
  readonly alerts?: AlertSink;
  /** Gets the hint at headers without effect, which the primary logs. Default: this process logs it. */
  readonly onHint?: (hint: HeaderHint) => void;
  /** Opens the state store. Injected by tests; the one of the settings otherwise. */
  readonly openStore?: ReconnectingStoreSetup['open'];
  /** The objects of the state store, which the primary has. Default: those of the store of this process. */
  readonly stored?: ObjectReplica;
  /** Writes uses of keys to the state store, which the primary has. Default: to the store of this process. */
  readonly writeKeyUses?: Entities['seen'];
  /** Where the costs of requests are written, if the settings have a state store. Default: the store that this process opens. */
  readonly ledger?: Pick<Ledger, 'append'>;
  /** Decides which model names are labels of metrics. Default: this process decides. */
  readonly models?: ModelNames;
  /** Gets the handler of unhandled errors: before plugins are loaded, and another before the listeners accept requests. */
  readonly onFaults?: ServeParts['onFaults'];
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
  const disk = options.files ?? diskFiles;
  const first = await loadSettled(configs, {
    env,
    clock,
    files: beforeStore(disk, role.kind),
    pauseMs: START_PAUSE_MS,
  });
  if (!first.loaded.settings) throw new SettingsRefused(first.loaded.diagnostics);
  const server = compileServerSettings(first.loaded.settings.server);
  const worker = role.kind === 'worker' ? role.id : undefined;
  const ended = new EndedRequests(clock);
  const metrics = createMetrics({ clock, build: version(), flush: ended.flush });
  const output = new TeeOutput(logTo ? directOutput(logTo) : logOutput(role, metrics, ended, () => log));
  const log = createLogger({ level: server.telemetry.log.level, clock, worker, destination: output });
  const tools = { role, env, disk, configs, clock, log, metrics, open: options.openStore };
  const { state, source, loaded, files, settings } = await withState(first, server, tools);
  const onWaiting = (change: number): void => metrics.families.poolWaiting.add({}, change);
  const upstream = createUpstream({ clock, ...(lookup && { lookup }), onWaiting });
  upstream.apply(outboundOf(settings));
  const otel = await exportTo(output, settings.server.telemetry, { env, log, metrics, clock });
  const budgets = options.budgets ?? ownCounters(state, role, clock);
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
    otel,
    recordFiles: recordFiles(role, metrics, clock, log),
    responses: options.responses,
    budgets,
    alerts: alertsOf(options, { clock, log, families: metrics.families, exchange: upstream.exchange }),
    stored: options.stored ?? state?.objects,
    keyUses: keyUses(options, state, clock),
    costs: costsOf(server, { role, budgets, ledger: options.ledger ?? (state && ledgerOf(state)) }),
    random,
    watch: options.watch,
  };
  const processState = createProcessState(parts);
  options.onFaults?.({ pluginFault: processState.shared.pluginFault, fail: () => Promise.resolve() });
  const modules = moduleVersions(settings.server.plugins ?? [], configs);
  const release = (): Promise<unknown> => Promise.all([upstream.close(), otel?.shutdown(), state?.close()]);
  const snapshot = await openFirst(processState, { loaded, files, configs, role }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  processState.apply(snapshot);
  metrics.settingsLoaded(snapshot.hash, slugsOf(settings));
  const inForce: InForce = { settings, warnings: loaded.diagnostics, files, objects: loaded.objects(), modules };
  const { watchFolder: watcher = watchFolder, port } = options;
  const ofRole = { source, role, port, watchFolder: watcher, onFaults: options.onFaults, onHint: options.onHint };
  return serve({ ...parts, processState, snapshot, inForce, state, ...ofRole });
}

/** A worker passes its alerts to the primary, which raises them. */
const alertsOf = ({ alerts }: GatewayOptions, parts: ConstructorParameters<typeof Alerts>[0]): ProcessAlerts =>
  alerts ? relayedAlerts(alerts) : new Alerts(parts);

/** With a state store, what is spent outlives this process. */
const ownCounters = (
  state: ReconnectingStore | undefined,
  { kind }: ProcessRole,
  clock: Clock,
): CounterSource | undefined =>
  state && { counters: countersOf(state), boot: newBoot(kind === 'primary' ? 'primary' : 'single', clock) };

/** Undefined without a state store. */
function keyUses(
  { writeKeyUses }: GatewayOptions,
  state: ReconnectingStore | undefined,
  clock: Clock,
): KeyUses | undefined {
  if (writeKeyUses) return new KeyUses(clock, writeKeyUses);
  if (!state) return undefined;
  return new KeyUses(clock, async (uses) => {
    await requireStore(state).entities.seen(uses);
  });
}

interface CostSources {
  readonly role: ProcessRole;
  readonly budgets: CounterSource | undefined;
  readonly ledger: Pick<Ledger, 'append'> | undefined;
}

/** The primary serves no requests itself. */
const costsOf = ({ state }: ServerSettings, { role, budgets, ledger }: CostSources): CostStore | undefined =>
  state && budgets && ledger && role.kind !== 'primary'
    ? { ledger, boot: budgets.boot, folder: state.folder }
    : undefined;

const slugsOf = ({ catalog }: Settings): readonly string[] => catalog.providers.map(({ slug }) => slug);

interface FirstSettings extends SettledLoad {
  readonly configs: string;
  readonly role: ProcessRole;
}

/** Compiles and opens the first snapshot. Rejects with SettingsRefused. */
async function openFirst(state: ProcessState, { loaded, files, configs, role }: FirstSettings): Promise<Snapshot> {
  const snapshot = await compileWith(state, loaded, configs, files);
  if (!snapshot) throw new SettingsRefused(loaded.diagnostics);
  if (role.kind !== 'primary') compileBodySchemas();
  try {
    await snapshot.open();
  } catch (error) {
    await snapshot.close();
    // Missing values of catalog entries are diagnostics with a place.
    throw loaded.ok ? error : new SettingsRefused(loaded.diagnostics);
  }
  return snapshot;
}

/** Which store to open is in the settings, so they are read before it is open. */
const beforeStore = (disk: SettingsFiles, role: ProcessRole['kind']): SettingsFiles =>
  role === 'worker' ? disk : withStoredObjects(disk, () => NO_OBJECTS);

interface StateTools extends Omit<ReconnectingStoreSetup, 'settings'> {
  readonly role: ProcessRole;
  readonly env: GatewayOptions['env'];
  readonly configs: string;
  readonly disk: SettingsFiles;
}

/**
 * Opens the state store that the settings name, and reads them once more with the store's objects among them. A worker's settings
 * have them already. Rejects with SettingsRefused.
 */
async function withState(
  first: SettledLoad,
  server: ServerSettings,
  { role, env, disk, configs, ...tools }: StateTools,
): Promise<
  SettledLoad & {
    readonly settings: Settings;
    readonly state: ReconnectingStore | undefined;
    readonly source: SettingsFiles;
  }
> {
  const { settings: own } = first.loaded;
  if (!server.state || !own || !first.loaded.ok || role.kind === 'worker')
    return { ...first, settings: own!, state: undefined, source: disk };
  const { ReconnectingStore: Store } = await import('../../addons/budgets/state/reconnecting-store.ts');
  const state = await Store.open({ ...tools, settings: server.state }, first.loaded.reporter('server.yaml'));
  if (!state) throw new SettingsRefused(first.loaded.diagnostics);
  const source = withStoredObjects(disk, () => state.objects.now);
  const second = await loadSettled(configs, { env, clock: tools.clock, files: source, pauseMs: START_PAUSE_MS });
  const { settings } = second.loaded;
  if (settings) return { ...second, settings, state, source };
  await state.close();
  throw new SettingsRefused(second.loaded.diagnostics);
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

/** Starts OpenTelemetry, which also exports the lines of the log. */
async function exportTo(
  output: TeeOutput,
  yaml: OtelOptions['yaml'],
  parts: Omit<OtelOptions, 'yaml' | 'version'>,
): Promise<Otel | undefined> {
  const otel = await startOtel({ ...parts, yaml, version: version().version });
  if (otel?.writeLine) output.alsoTo(otel.writeLine);
  return otel;
}

/** Every process has files of its own in the one folder. */
const recordFiles = (role: ProcessRole, { families }: Metrics, clock: Clock, log: Logger): RecordFiles =>
  new RecordFiles({
    clock,
    process: role.kind === 'worker' ? `${process.pid}-w${role.id}` : `${process.pid}`,
    onDrop: (reason, lines) => families.recordsDropped.add({ reason }, lines),
    onFailure: (err) =>
      log.error({ err }, 'records cannot be written to telemetry.records.dir; requests are still served'),
  });

const directOutput = (destination: DestinationStream): LogOutput => ({
  write: (line) => destination.write(line),
  writeSoon: (line) => destination.write(line.toString()),
});

/** Pause before reading again: a file missing at the start may be part of a running deployment. */
const START_PAUSE_MS = 100;
