import { PriceList } from '../../addons/budgets/prices/price-list.ts';
import { PricesInForce } from '../../addons/budgets/prices/prices-in-force.ts';
import type { Logger } from 'pino';
import { builtinPlugins } from '../../../plugins/index.ts';
import type { ModelNames } from '../catalog/model-labels.ts';
import { PluginRegistry } from '../http/chain/registry.ts';
import type { Clock, Recorder } from '../../plugin/index.ts';
import type { LoadResult } from '../settings/read/load.ts';
import { Gates } from '../../addons/budgets/limits/gates.ts';
import type { RecordedFiles } from '../settings/source/recorded-files.ts';
import type { Environment } from '../settings/values/references.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import { FilesState } from '../../addons/files/files-state.ts';
import { MemoryReplyStores } from '../memory/reply-cache.ts';
import { MemoryResponses } from '../../addons/responses/store/responses.ts';
import type { ResponseStore } from '../memory/ports.ts';
import { MemoryHealthStore } from '../memory/target-health.ts';
import { MemoryTokenStore } from '../memory/tokens.ts';
import { createAccessLog, type AccessLines, type AccessLog } from '../record/log/access-log.ts';
import type { RecordFiles } from '../record/files/record-files.ts';
import type { EndedRequests } from '../record/ended-requests.ts';
import { RecordStore } from '../record/store.ts';
import { createLogger } from '../record/log/logger.ts';
import { CallersAsLabels, type MetadataLabel } from '../record/metrics/caller-labels.ts';
import { createRecorder, type RecorderOptions } from '../record/recorder.ts';
import type { Metrics } from '../record/metrics/registry.ts';
import type { Otel } from '../../addons/otlp/open-otel.ts';
import type { Upstream } from '../upstream/index.ts';
import { keepForExplain, KeptRequests } from '../../addons/explain/explain/kept-requests.ts';
import { SettingsExplainer } from '../../addons/explain/explain/settings-explainer.ts';
import type { CounterSource } from '../../addons/budgets/limits/budget-accounting.ts';
import { budgetAlert, exhaustedAlert } from '../../addons/alerts/budget-alert.ts';
import type { ProcessAlerts } from '../../addons/alerts/process-alerts.ts';
import { UnknownPrices } from '../../addons/alerts/unknown-prices.ts';
import { RequestLedger } from '../../addons/budgets/ledger/request-ledger.ts';
import type { Boot } from '../../addons/budgets/store/counters.ts';
import type { Ledger } from '../../addons/budgets/store/ledger.ts';
import { ledgerReports } from '../../addons/budgets/state/ledger-metrics.ts';
import { budgetReports } from '../../addons/budgets/state/budget-metrics.ts';
import type { KeyUses } from '../../addons/budgets/state/key-uses.ts';
import type { ObjectReplica } from '../../addons/budgets/state/object-replica.ts';
import { healthReports } from './health-metrics.ts';
import { HeavyTurns } from '../http/gateway/admission/large-body-turns.ts';
import { InFlight } from '../http/gateway/admission/in-flight.ts';
import { pluginFaults } from '../http/gateway/plugin-faults.ts';
import { loadPluginModules } from '../compose/plugin-modules.ts';
import { pluginReports } from '../compose/plugin-metrics.ts';
import { BudgetState } from '../../addons/budgets/reserve/budget-state.ts';
import type { Shared } from '../compose/shared.ts';
import { compileSnapshot, type Snapshot } from '../compose/snapshot.ts';
import type { Watch } from '../compose/chain-builder.ts';
import { OpenSockets } from '../../addons/responses/websockets/open-sockets.ts';

/** The parts that a process creates before its first settings apply. */
export interface ProcessParts {
  readonly configs: string;
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly accessLines: AccessLines;
  readonly ended: EndedRequests;
  readonly random: (plugin: string) => number;
  readonly metrics: Metrics;
  readonly models: ModelNames;
  readonly upstream: Upstream;
  readonly otel: Otel | undefined;
  readonly recordFiles?: RecordFiles | undefined;
  /** The responses that requests continue. Default: this process keeps them. */
  readonly responses?: ResponseStore | undefined;
  /** Where several processes count together. Default: this process counts alone, in memory. */
  readonly budgets?: CounterSource | undefined;
  readonly alerts: ProcessAlerts;
  /** The last uses of the keys of the state store. Undefined: there is none. */
  readonly keyUses?: KeyUses | undefined;
  /** The objects of the state store. Undefined: there is none. */
  readonly stored?: ObjectReplica | undefined;
  /** Where the costs of requests are written. Undefined: the settings have no state store, or this process serves no requests. */
  readonly costs?: CostStore | undefined;
  readonly watch?: Watch | undefined;
}

export interface CostStore {
  readonly ledger: Pick<Ledger, 'append'>;
  readonly boot: Boot;
  /** The folder of a state store on disk. */
  readonly folder: string | undefined;
}

/** State that outlives snapshots, created once. */
export interface ProcessState {
  readonly shared: Omit<Shared, 'registry'> & { readonly budgets: BudgetState };
  readonly records: RecordStore;
  /** Undefined: the costs of requests are written nowhere. */
  readonly ledger: RequestLedger | undefined;
  /** The callers of requests as labels of metrics. */
  readonly callers: CallersAsLabels;
  /** Requests kept for explanations. */
  readonly kept: KeptRequests;
  /** The explainer for each snapshot's settings. */
  readonly explainers: WeakMap<Snapshot, SettingsExplainer>;
  /** Applies the settings that can change while it lives. */
  apply(settings: {
    readonly server: ServerSettings;
    readonly metadataLabels: () => readonly MetadataLabel[];
    readonly prices: PricesInForce;
    readonly tenancy: Snapshot['tenancy'];
  }): void;
}

/** For config tests, which apply no settings. */
const SHIPPED = new PricesInForce(new PriceList());

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

function admissionOf(parts: ProcessParts): Pick<Shared, 'inFlight' | 'sockets'> & { readonly turns: HeavyTurns } {
  const {
    clock,
    metrics: { families },
  } = parts;
  const inFlight = new InFlight({ clock, onFull: (limit, action) => families.limitRefusals.add({ limit, action }) });
  const sockets = new OpenSockets((state, change) => families.webSocketsOpen.add({ state }, change));
  return { inFlight, sockets, turns: createTurns(parts, inFlight) };
}

const tokenReports =
  (metrics: Metrics, log: Logger): Shared['tokenFetched'] =>
  (slug, error) => {
    metrics.tokenRefreshed(slug, error ? 'failure' : 'success');
    if (error) log.warn({ provider: slug, reason: error instanceof Error ? error.message : '' }, 'no access token');
  };

const gatesOf = ({ clock, metrics: { families } }: ProcessParts): Pick<Shared, 'gates' | 'rateLimited'> => ({
  gates: new Gates(clock),
  rateLimited: (node, limit) => families.rateLimitRefusals.add({ node, limit }),
});

const pluginReportsOf = ({
  log,
  metrics: { families },
}: ProcessParts): Pick<Shared, 'pluginFault' | 'pluginReports'> => ({
  pluginFault: pluginFaults(log, families),
  pluginReports: pluginReports(families),
});

const storesOf = ({ clock, log, metrics, responses }: ProcessParts) => ({
  tokens: new MemoryTokenStore(clock),
  health: new MemoryHealthStore({ clock, ...healthReports(metrics, log) }),
  replies: new MemoryReplyStores({ clock, ...metrics.replyCache }),
  responses: responses ?? new MemoryResponses(clock),
});

const storeOf = ({ stored, keyUses, watch }: ProcessParts): Pick<Shared, 'stored' | 'keyUsed' | 'watch'> => ({
  watch,
  stored: stored && (() => stored.now),
  keyUsed: keyUses && ((...use) => keyUses.used(...use)),
});

const openRecorder = (
  { clock, metrics, models, log, ended, otel, recordFiles }: ProcessParts,
  outputs: Pick<RecorderOptions, 'callers' | 'records' | 'accessLog' | 'prices' | 'alsoTo' | 'ledger'>,
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

const createBudgets = (
  { clock, log, metrics, budgets: shared, alerts }: ProcessParts,
  ledger: RequestLedger | undefined,
): BudgetState =>
  new BudgetState({
    clock,
    log,
    reports: budgetReports(metrics),
    shared,
    inMemory: shared === undefined,
    ledger,
    onAlert: (account, percent) => alerts.raise(budgetAlert(account, percent)),
    onExhausted: (account, amount) => alerts.raise(exhaustedAlert(account, amount)),
  });

const createLedger = ({ clock, log, metrics, costs }: ProcessParts): RequestLedger | undefined =>
  costs &&
  new RequestLedger({
    ...costs,
    clock,
    reports: ledgerReports(metrics, clock, log),
    endOfTurn: (task) => void setImmediate(task),
  });

export function createProcessState(parts: ProcessParts): ProcessState {
  const { env, clock, log, accessLines, random, metrics, ended, models, upstream, recordFiles, alerts } = parts;
  const { inFlight, turns, sockets } = admissionOf(parts);
  const [callers, kept] = [new CallersAsLabels(), new KeptRequests()];
  const records = new RecordStore(clock, ended.flush);
  let accessLog: AccessLog = () => {};
  let current: Pick<Snapshot, 'prices' | 'tenancy'> | undefined;
  const unknownPrices = new UnknownPrices(clock, alerts);
  const ledger = createLedger(parts);
  const recorder = openRecorder(parts, {
    callers,
    records,
    ledger,
    accessLog: (record, wallMs) => accessLog(record, wallMs),
    prices: (startedAt) => (current?.prices ?? SHIPPED).at(startedAt),
    alsoTo: unknownPrices.see,
  });
  return {
    records,
    ledger,
    callers,
    kept,
    explainers: new WeakMap(),
    shared: {
      env,
      clock,
      log,
      random,
      upstream,
      ...storesOf(parts),
      ...gatesOf(parts),
      tokenFetched: tokenReports(metrics, log),
      budgets: createBudgets(parts, ledger),
      recorder,
      labels: models,
      inFlight,
      sockets,
      files: new FilesState({ clock, log, counted: metrics.filesCounted }),
      turns,
      tenantsBefore: () => current?.tenancy.current,
      ...storeOf(parts),
      ...pluginReportsOf(parts),
    },
    apply({ server, server: { telemetry, limits, admin }, metadataLabels, prices, tenancy }) {
      // Requests that have ended are recorded with the settings of their time.
      ended.flush();
      callers.apply(metadataLabels());
      current = { prices, tenancy };
      alerts.apply(server.alerts);
      unknownPrices.apply(server.alerts, server.state?.owns.includes('alerts'));
      records.resize(admin.enabled ? admin.records : 0);
      kept.apply(admin.enabled && admin.explain !== 'none');
      inFlight.apply(limits);
      sockets.apply(server.webSockets);
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
  { shared, kept, explainers }: ProcessState,
  loaded: LoadResult,
  configs: string,
  files?: RecordedFiles,
): Promise<Snapshot | undefined> {
  const { clock, env, health, replies, responses, gates, stored } = shared;
  const registry = await loadPluginModules(new PluginRegistry(builtinPlugins), loaded, { folder: configs, clock });
  // Silent: compiling these settings to serve has already logged everything.
  const log = createLogger({ level: 'silent' });
  const explainer =
    files &&
    new SettingsExplainer({ configs, env, clock, log, health, replies, responses, gates, registry, stored }, files);
  const snapshot = await compileSnapshot(loaded, {
    ...shared,
    registry,
    onConfig: explainer && ((server) => keepForExplain({ explainer, kept, health, clock }, server)),
    onClose: explainer && (() => explainer.retire()),
  });
  if (snapshot && explainer) explainers.set(snapshot, explainer);
  return snapshot;
}
