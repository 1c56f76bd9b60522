import type { Logger } from 'pino';
import { builtinPlugins } from '../../../plugins/index.ts';
import { PluginRegistry } from '../http/chain/registry.ts';
import type { LoadResult } from '../settings/read/load.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import { storeSettings } from '../settings/source/stored-objects.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { MemoryReplyStores } from '../memory/reply-cache.ts';
import { MemoryHealthStore } from '../memory/target-health.ts';
import { MemoryTokenStore } from '../memory/tokens.ts';
import { createAccessLog, type AccessLog } from '../record/log/access-log.ts';
import { RecordStore } from '../record/store.ts';
import { CallersAsLabels, type MetadataLabel } from '../record/metrics/caller-labels.ts';
import { createRecorder } from '../record/recorder.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { Taps } from '../kernel/taps.ts';
import { healthReports } from './health-metrics.ts';
import { HeavyTurns } from '../http/gateway/admission/large-body-turns.ts';
import { InFlight } from '../http/gateway/admission/in-flight.ts';
import { pluginFaults } from '../http/gateway/plugin-faults.ts';
import { loadPluginModules } from '../compose/plugin-modules.ts';
import { pluginReports } from '../compose/plugin-metrics.ts';
import type { Shared } from '../compose/snapshot-part.ts';
import { compileSnapshot, type Snapshot } from '../compose/snapshot.ts';
import { addOnParts } from './add-on-parts.ts';
import type { FleetMemory } from '../ports/fleet-memory.ts';
import { portOf, type ProcessPart, type ProcessParts } from './process-part.ts';

/** State that outlives snapshots, created once. */
export interface ProcessState {
  readonly shared: Omit<Shared, 'registry'>;
  readonly parts: readonly ProcessPart[];
  readonly records: RecordStore;
  readonly callers: CallersAsLabels;
  /** Applies the settings that can change while it lives. */
  apply(settings: {
    readonly server: ServerSettings;
    readonly metadataLabels: () => readonly MetadataLabel[];
    readonly tenancy: Snapshot['tenancy'];
  }): void;
}

const createTurns = ({ clock, metrics: { families } }: ProcessParts, inFlight: InFlight): HeavyTurns =>
  new HeavyTurns({
    clock,
    nextLoopTurn: (task) => void setImmediate(task),
    others: () => inFlight.size - inFlight.large,
    reported: {
      waiting: (change) => families.largeBodiesWaiting.add({}, change),
      waited: (ms) => families.largeBodyWait.add({}, ms / 1000),
      refused: () => families.limitRefusals.add({ limit: 'large_bodies', action: 'refused' }),
    },
  });

const createInFlight = ({ clock, metrics: { families } }: ProcessParts): InFlight =>
  new InFlight({ clock, onFull: (limit, action) => families.limitRefusals.add({ limit, action }) });

const tokenReports =
  ({ families }: Metrics, log: Logger): Shared['tokenFetched'] =>
  (slug, error) => {
    families.tokenRefreshes.add({ provider: slug, result: error ? 'failure' : 'success' });
    if (error) log.warn({ provider: slug, reason: error instanceof Error ? error.message : '' }, 'no access token');
  };

/** The claims of the state store, which a worker reaches by the primary. Undefined: the settings have no store. */
function claimsOf({ store, shared, settings }: Pick<ProcessParts, 'store' | 'shared' | 'settings'>) {
  if (store) return () => store.store?.claims;
  return shared && storeSettings(settings.server) ? () => shared.claims : undefined;
}

/** The state that snapshots share and that needs nothing but the process. */
const toolsOf = (
  { env, clock, log, random, metrics, models, upstream, stored, watch, ...others }: ProcessParts,
  fleet: FleetMemory | undefined,
) => ({
  env,
  clock,
  log,
  random,
  upstream,
  watch,
  labels: models,
  stored: stored && (() => stored.now),
  tokens: new MemoryTokenStore(clock),
  tokenFetched: tokenReports(metrics, log),
  health: new MemoryHealthStore({ clock, ...healthReports(metrics, log), link: fleet?.health }),
  replies: new MemoryReplyStores({ clock, ...metrics.replyCache, far: fleet?.replies }),
  pluginFault: pluginFaults(log, metrics.families),
  pluginReports: pluginReports(metrics.families),
  host: {
    openMetric: metrics.open,
    stores: new Map(),
    called: (plugin: string, outcome: string, ms: number) =>
      metrics.families.pluginCalls.add({ plugin, outcome }, ms / 1000),
    claims: claimsOf(others),
  },
});

export function createProcessState(parts: ProcessParts): ProcessState {
  const { clock, log, accessLines, metrics, ended, models, recordFiles } = parts;
  const inFlight = createInFlight(parts);
  const turns = createTurns(parts, inFlight);
  const callers = new CallersAsLabels();
  const records = new RecordStore(clock, ended.flush);
  const taps: Taps = {};
  const dry = () => opened.map((part) => part.dry?.() ?? part);
  const opened: readonly ProcessPart[] = addOnParts.flatMap(({ open }) =>
    open ? [open({ ...parts, records, taps, dry, port: (key) => portOf(opened, key) })] : [],
  );
  let accessLog: AccessLog = () => {};
  let current: Pick<Snapshot, 'tenancy'> | undefined;
  const listeners = opened.filter(({ recorded }) => recorded);
  const recorder = createRecorder({
    clock,
    metrics,
    models,
    log,
    ended,
    openSpan: parts.otel?.openSpan,
    countSemconv: parts.otel?.countRequest,
    recordFiles,
    callers,
    records,
    costs: portOf(opened, 'costs'),
    accessLog: (record, wallMs) => accessLog(record, wallMs),
    alsoTo(record, bounded) {
      for (const listener of listeners) listener.recorded?.(record, bounded);
    },
  });
  return {
    parts: opened,
    records,
    callers,
    shared: {
      ...toolsOf(parts, portOf(opened, 'fleetMemory')),
      recorder,
      inFlight,
      taps,
      parts: opened,
      turns,
      tenantsBefore: () => current?.tenancy.current,
      keyUsed: portOf(opened, 'keyUsed'),
    },
    apply({ server: { telemetry, limits, admin }, metadataLabels, tenancy }) {
      // Requests that have ended are recorded with the settings of their time.
      ended.flush();
      callers.apply(metadataLabels());
      current = { tenancy };
      records.resize(admin.enabled ? admin.records : 0);
      inFlight.apply(limits);
      turns.apply(limits);
      log.level = telemetry.log.level;
      recordFiles?.apply(telemetry.records);
      accessLog = createAccessLog({ log, lines: accessLines, mode: telemetry.log.access });
    },
  };
}

/**
 * Compiles settings with their plugin modules. A module that is no longer listed is no longer available.
 * @param files the files that `loaded` was read from; without them these settings cannot explain requests
 */
export async function compileWith(
  { shared }: Pick<ProcessState, 'shared'>,
  loaded: LoadResult,
  configs: string,
  files?: RecordedFiles,
): Promise<Snapshot | undefined> {
  const { clock } = shared;
  const registry = await loadPluginModules(new PluginRegistry(builtinPlugins), loaded, { folder: configs, clock });
  return compileSnapshot(loaded, { ...shared, registry, files });
}
