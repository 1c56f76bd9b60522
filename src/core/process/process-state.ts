import type { Logger } from 'pino';
import { builtinPlugins } from '../../../plugins/index.ts';
import { PluginRegistry } from '../http/chain/registry.ts';
import type { Recorder } from '../kernel/index.ts';
import type { LoadResult } from '../settings/read/load.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { MemoryReplyStores } from '../memory/reply-cache.ts';
import { MemoryHealthStore } from '../memory/target-health.ts';
import { MemoryTokenStore } from '../memory/tokens.ts';
import { createAccessLog, type AccessLog } from '../record/log/access-log.ts';
import { RecordStore } from '../record/store.ts';
import { CallersAsLabels, type MetadataLabel } from '../record/metrics/caller-labels.ts';
import { createRecorder, type RecorderOptions } from '../record/recorder.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import { healthReports } from './health-metrics.ts';
import { HeavyTurns } from '../http/gateway/admission/large-body-turns.ts';
import { InFlight } from '../http/gateway/admission/in-flight.ts';
import { pluginFaults } from '../http/gateway/plugin-faults.ts';
import { loadPluginModules } from '../compose/plugin-modules.ts';
import { pluginReports } from '../compose/plugin-metrics.ts';
import type { Shared } from '../compose/snapshot-part.ts';
import { compileSnapshot, type Snapshot } from '../compose/snapshot.ts';
import { addOnParts } from './add-on-parts.ts';
import { portOf, type ProcessPart, type ProcessParts } from './process-part.ts';

/** State that outlives snapshots, created once. */
export interface ProcessState {
  readonly shared: Omit<Shared, 'registry'>;
  /** The add-ons. */
  readonly parts: readonly ProcessPart[];
  readonly records: RecordStore;
  /** The callers of requests as labels of metrics. */
  readonly callers: CallersAsLabels;
  /** Applies the settings that can change while it lives. */
  apply(settings: {
    readonly server: ServerSettings;
    readonly metadataLabels: () => readonly MetadataLabel[];
    readonly tenancy: Snapshot['tenancy'];
  }): void;
}

/** Takes turns on large bodies, and counts them. */
const createTurns = ({ clock, metrics: { families } }: ProcessParts, inFlight: InFlight): HeavyTurns =>
  new HeavyTurns({
    clock,
    nextLoopTurn: (task) => void setImmediate(task),
    others: () => inFlight.size - inFlight.large,
    reported: {
      waiting: (change) => families.largeBodiesWaiting.add({}, change),
      waited: (ms) => families.largeBodyWait.observe({}, ms / 1000),
      refused: () => families.limitRefusals.add({ limit: 'large_bodies', action: 'refused' }),
    },
  });

function admissionOf(parts: ProcessParts): Pick<Shared, 'inFlight'> & { readonly turns: HeavyTurns } {
  const {
    clock,
    metrics: { families },
  } = parts;
  const inFlight = new InFlight({ clock, onFull: (limit, action) => families.limitRefusals.add({ limit, action }) });
  return { inFlight, turns: createTurns(parts, inFlight) };
}

const tokenReports =
  (metrics: Metrics, log: Logger): Shared['tokenFetched'] =>
  (slug, error) => {
    metrics.tokenRefreshed(slug, error ? 'failure' : 'success');
    if (error) log.warn({ provider: slug, reason: error instanceof Error ? error.message : '' }, 'no access token');
  };

const pluginReportsOf = ({
  log,
  metrics: { families },
}: ProcessParts): Pick<Shared, 'pluginFault' | 'pluginReports'> => ({
  pluginFault: pluginFaults(log, families),
  pluginReports: pluginReports(families),
});

const storesOf = ({ clock, log, metrics }: ProcessParts) => ({
  tokens: new MemoryTokenStore(clock),
  health: new MemoryHealthStore({ clock, ...healthReports(metrics, log) }),
  replies: new MemoryReplyStores({ clock, ...metrics.replyCache }),
});

const storeOf = ({ stored, watch }: ProcessParts): Pick<Shared, 'stored' | 'watch'> => ({
  watch,
  stored: stored && (() => stored.now),
});

const openRecorder = (
  { clock, metrics, models, log, ended, otel, recordFiles }: ProcessParts,
  outputs: Pick<RecorderOptions, 'callers' | 'records' | 'accessLog' | 'costs' | 'alsoTo'>,
): Recorder =>
  createRecorder({
    clock,
    metrics,
    models,
    log,
    ended,
    openSpan: otel?.openSpan,
    countSemconv: otel?.countRequest,
    recordFiles,
    ...outputs,
  });

export function createProcessState(parts: ProcessParts): ProcessState {
  const { env, clock, log, accessLines, random, metrics, ended, models, upstream, recordFiles } = parts;
  const { inFlight, turns } = admissionOf(parts);
  const callers = new CallersAsLabels();
  const records = new RecordStore(clock, ended.flush);
  const dry = () => opened.map((part) => part.dry?.() ?? part);
  const opened: readonly ProcessPart[] = addOnParts.flatMap(({ open }) =>
    open ? [open({ ...parts, records, dry, port: (key) => portOf(opened, key) })] : [],
  );
  let accessLog: AccessLog = () => {};
  let current: Pick<Snapshot, 'tenancy'> | undefined;
  const listeners = opened.filter(({ recorded }) => recorded);
  const recorder = openRecorder(parts, {
    callers,
    records,
    costs: portOf(opened, 'costs'),
    accessLog: (record, wallMs) => accessLog(record, wallMs),
    alsoTo: (record) => listeners.forEach((listener) => listener.recorded?.(record)),
  });
  return {
    parts: opened,
    records,
    callers,
    shared: {
      env,
      clock,
      log,
      random,
      upstream,
      ...storesOf(parts),
      tokenFetched: tokenReports(metrics, log),
      recorder,
      labels: models,
      inFlight,
      parts: opened,
      turns,
      tenantsBefore: () => current?.tenancy.current,
      ...storeOf(parts),
      keyUsed: portOf(opened, 'keyUsed'),
      ...pluginReportsOf(parts),
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
