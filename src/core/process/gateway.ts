import type { GatewayOptions, OpenStoreTools } from './gateway-options.ts';
import type { Report } from '../kernel/report.ts';
import type { Settings } from '../settings/read/load.ts';
import type { DestinationStream, Logger } from 'pino';
import { ModelLabels } from '../catalog/model-labels.ts';
import { compileBodySchemas } from '../operations/body-schema.ts';
import { systemClock } from '../kernel/system-clock.ts';
import type { Clock } from '../../plugin/index.ts';
import { diskFiles, withStoredObjects, type SettingsFiles } from '../settings/source/files.ts';
import { loadSettled, type SettledLoad } from '../settings/read/load-settled.ts';
import { isCompiled, NO_OBJECTS, storeSettings } from '../settings/source/stored-objects.ts';
import { compileServerSettings } from '../settings/compile/server-settings.ts';
import { watchFolder } from '../settings/source/watch.ts';
import { createLogger } from '../record/log/logger.ts';
import { RecordFiles } from '../record/files/record-files.ts';
import { EndedRequests } from '../record/ended-requests.ts';
import { openLogOutput, TeeOutput, type LogOutput } from '../record/log/log-output.ts';
import { createMetrics, type Metrics } from '../record/metrics/registry.ts';
import type { Telemetry, TelemetryOptions } from '../record/telemetry.ts';
import { partOf } from './add-on-parts.ts';
import { createUpstream } from '../upstream/index.ts';
import { compileWith, createProcessState, type ProcessState } from './process-state.ts';
import type { WorkerPool, WorkerPoolTools, ProcessRole, Gateway, WorkerGateway } from './running-gateway.ts';
import type { ProcessParts } from './process-part.ts';
import { moduleVersions } from '../compose/plugin-modules.ts';
import type { InForce } from './reload.ts';
import { outboundOf } from './outbound.ts';
import type { ServeParts } from './servers.ts';
import { serve } from './serving.ts';
import { version } from '../kernel/version.ts';
import type { Snapshot } from '../compose/snapshot.ts';
import { SettingsRefused } from '../settings/source/diagnostic.ts';

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
  const files = beforeStore(disk, role.kind);
  const first = await loadSettled(configs, { env, clock, files, pauseMs: START_PAUSE_MS });
  if (!first.loaded.settings) throw new SettingsRefused(first.loaded.diagnostics);
  const server = compileServerSettings(first.loaded.settings.server);
  const worker = role.kind === 'worker' ? role.id : undefined;
  const ended = new EndedRequests(clock);
  const metrics = createMetrics({ clock, build: version(), flush: ended.flush });
  const output = new TeeOutput(logTo ? directOutput(logTo) : logOutput(role, metrics, ended, () => log));
  const log = createLogger({ level: server.telemetry.log.level, clock, worker, destination: output });
  const tools = { role, env, disk, configs, clock, log, metrics, open: options.openStore };
  const { store, source, settings, ...read } = await withStore(first, tools);
  const onWaiting = (change: number): void => metrics.families.poolWaiting.add({}, change);
  const upstream = createUpstream({ clock, ...(lookup && { lookup }), onWaiting });
  upstream.apply(outboundOf(settings));
  const otel = await exportTo(output, settings.server.telemetry, { env, log, metrics, clock });
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
    role: role.kind,
    settings,
    store,
    shared: options.shared,
    stored: options.shared?.stored ?? store?.objects,
    random,
    watch: options.watch,
  };
  const processState = createProcessState(parts);
  options.onFaults?.({ pluginFault: processState.shared.pluginFault, fail: () => Promise.resolve() });
  const modules = moduleVersions(settings.server.plugins ?? [], configs);
  const release = (): Promise<unknown> => Promise.all([upstream.close(), otel?.shutdown(), store?.close()]);
  const snapshot = await openFirst(processState, read, configs).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  if (role.kind !== 'primary') compileBodySchemas();
  processState.apply(snapshot);
  metrics.settingsLoaded(snapshot.hash, slugsOf(settings));
  const { diagnostics: warnings } = read.loaded;
  const inForce: InForce = { settings, warnings, files: read.files, objects: read.loaded.objects(), modules };
  const serving = { source, processRole: role, processState, snapshot, inForce };
  return serve({ watchFolder, ...options, ...parts, ...serving });
}

const slugsOf = ({ catalog }: Settings): readonly string[] => catalog.providers.map(({ slug }) => slug);

/** Compiles and opens the first snapshot. Rejects with SettingsRefused. */
async function openFirst(state: ProcessState, { loaded, files }: SettledLoad, configs: string): Promise<Snapshot> {
  const snapshot = await compileWith(state, loaded, configs, files);
  if (!snapshot) throw new SettingsRefused(loaded.diagnostics);
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

interface StoreTools extends OpenStoreTools {
  readonly role: ProcessRole;
  readonly env: GatewayOptions['env'];
  readonly configs: string;
  readonly disk: SettingsFiles;
}

/** Opens the state store, and reads the settings once more with its objects. A worker has them already. */
async function withStore(
  first: SettledLoad,
  { role, env, disk, configs, ...tools }: StoreTools,
): Promise<SettledLoad & Pick<ServeParts, 'settings' | 'store' | 'source'>> {
  const { settings: own } = first.loaded;
  const open = partOf('openStore');
  const without = { ...first, settings: own!, store: undefined, source: disk };
  if (!open || !own || role.kind === 'worker') return without;
  // The files may name entries of the catalog, prompts and configs that only the store has.
  if (!first.loaded.ok && !storeSettings(own.server)?.owns.some(isCompiled)) return without;
  let reported = false;
  const report: Report = (problem) => {
    reported = true;
    first.loaded.reporter('server.yaml')(problem);
  };
  const store = await open(own, tools, report);
  if (reported) throw new SettingsRefused(first.loaded.diagnostics);
  if (!store) return without;
  const source = withStoredObjects(disk, () => store.objects.now);
  const second = await loadSettled(configs, { env, clock: tools.clock, files: source, pauseMs: START_PAUSE_MS });
  const { settings } = second.loaded;
  if (settings) return { ...second, settings, store, source };
  await store.close();
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
  yaml: TelemetryOptions['yaml'],
  parts: Omit<TelemetryOptions, 'yaml' | 'version'>,
): Promise<Telemetry | undefined> {
  const otel = await partOf('startTelemetry')?.({ ...parts, yaml, version: version().version });
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
  writeSoon: (line) => destination.write(line),
});

/** Pause before reading again: a file missing at the start may be part of a running deployment. */
const START_PAUSE_MS = 100;
