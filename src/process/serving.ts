import type { Server } from 'node:http';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { Clock } from '../plugin/index.ts';
import type { Settings } from '../settings/read/load.ts';
import type { SettingsFiles } from '../settings/source/files.ts';
import { SettingsWatch, type WatchFolder } from '../settings/source/watch.ts';
import { createAdminServer, listenAdmin } from '../admin/admin-listener.ts';
import type { HandshakeFailure } from '../compose/listener/handshakes.ts';
import { applyCertificate } from '../compose/listener/secure-server.ts';
import { Certificates } from './certificates.ts';
import { outboundOf } from './outbound.ts';
import { createDataServer, applyLimits } from '../compose/listener/data-server.ts';
import { drain, type DrainSetup, type DrainTimes, DrainSteps } from './drain.ts';
import { createExplainService, type ExplainSource } from '../dry-run/explain/explain-service.ts';
import type { Gateway, WorkerGateway, WorkerPool, ProcessRole } from './running-gateway.ts';
import { healthLines } from './health-metrics.ts';
import { compileWith, type ProcessState, type ProcessParts } from './process-state.ts';
import { LiveSnapshot } from '../compose/live-snapshot.ts';
import { close, listen, type Address } from '../compose/listener/listeners.ts';
import { Reloader, type InForce, type ReloadSetup } from './reload.ts';
import { createRequestPath } from '../gateway/request-path.ts';
import type { Snapshot } from '../compose/snapshot.ts';
import { StoredWebhooks } from './alerts/stored-webhooks.ts';
import { LostLeases } from './alerts/lost-leases.ts';
import { UsageCounters } from './state/usage-counters.ts';
import type { ReconnectingStore } from './state/reconnecting-store.ts';
import { Retention } from './state/retention.ts';
import { AuditHead } from './state/audit-head.ts';
import { SettingsAudit } from './state/settings-audit.ts';
import { Backups } from './state/backups.ts';
import { KeyWatch } from './state/key-watch.ts';
import type { Replayed } from './state/spool-replay.ts';
import type { Spools } from './state/spools.ts';
import { createStatusServer } from '../admin/status-listener.ts';
import { withinTime } from '../compose/time-limit.ts';

interface ServeParts extends ProcessParts {
  readonly processState: ProcessState;
  readonly snapshot: Snapshot;
  readonly inForce: InForce;
  readonly source: SettingsFiles;
  readonly role: ProcessRole;
  readonly port: number | undefined;
  readonly watchFolder: WatchFolder;
  readonly state: ReconnectingStore | undefined;
}

/** Starts serving with the first settings and opens the listeners of this process's role. */
export async function serve(parts: ServeParts): Promise<Gateway & WorkerGateway> {
  const { clock, metrics, processState, role, state } = parts;
  const { inFlight, responses } = processState.shared;
  const [usageCounters, backups, webhooks] = [usageCountersOf(parts), backupsOf(parts), storedWebhooks(parts)];
  const upkeep = await upkeepOf(parts);
  const tools = { ...parts, responses, usageCounters, ...upkeep, stored: parts.stored };
  const workers = role.kind === 'primary' ? role.workers(tools) : undefined;
  const live = liveSnapshot(parts);
  const keys = keyWatch(parts, live);
  const targets = () => healthLines(processState.shared.health.reports());
  const explaining = createExplainService(() => processState.explainers.get(live.current), { ...processState, clock });
  const sources = { live, workers, targets, keys, ...explaining, current: (): InForce => reloader.inForce };
  const { servers, drained, certificates } = createServers(parts, sources);
  const reloader = createReloader(parts, { live, workers }, (snapshot, changed) => {
    takeEffect({ ...parts, ...upkeep }, snapshot, changed);
    applyToNetwork({ upstream: parts.upstream, servers, certificates }, snapshot, reloader.inForce.settings);
  });
  const periodic = { keys, backups, webhooks, usageCounters, live };
  const release = () => releaseAll(parts, { ...periodic, ...upkeep, reloader, certificates });
  const addresses = await open(servers, parts, workers).catch(async (error: unknown) => {
    await Promise.all(Object.values(servers).map(close));
    await workers?.drain(AT_ONCE);
    await release();
    throw error;
  });
  if (role.kind !== 'worker') await reloader.watch();
  startPeriodic(parts, periodic);
  const shutDown = once(async (times: DrainTimes): Promise<{ cut: number }> => {
    metrics.families.draining.set({}, 1);
    reloader.stop();
    inFlight.drain();
    const cut = await (workers ? workers.drain(times) : drain(drained, times));
    await Promise.all([servers.status, servers.admin].map(close));
    await release();
    return { cut };
  });
  return {
    ...addresses,
    get settings() {
      return reloader.inForce.settings;
    },
    get warnings() {
      return reloader.inForce.warnings;
    },
    metrics,
    upstream: parts.upstream,
    state,
    ...lookUps(processState, servers),
    targets,
    ...explaining,
    shareLimits: (processes) => processState.shared.gates.share(processes),
    reload: reloader.reload,
    shutDown,
    drainStep: (step) => drained.steps.take(step),
    drain: ({ delay = true } = {}) => shutDown(drainTimes(live.current.server, delay)),
    pluginFault: processState.shared.pluginFault,
    fail: () => failing(shutDown, live.current.server.drain, clock),
    close: async (graceMs = 0) => void (await shutDown({ ...AT_ONCE, timeoutMs: graceMs })),
  };
}

/** Objects of the state store change without a reload: chains, and requests that run, stay as they are. */
function liveSnapshot({ snapshot, stored, processState, upstream }: ServeParts): LiveSnapshot {
  const live = new LiveSnapshot(snapshot, () => {
    // Drops what only the old settings used.
    processState.shared.tokens.retain(live.tokenKeys);
    upstream.settingsChanged();
  });
  if (!stored) return live;
  live.current.tenancy.catchUp(stored.now);
  stored.onChange((changes) => {
    live.current.tenancy.apply(changes);
    processState.callers.apply(live.current.metadataLabels());
  });
  return live;
}

const keyWatch = (parts: ServeParts, live: LiveSnapshot): KeyWatch =>
  new KeyWatch({
    ...parts,
    tenants: () => live.current.tenancy.current,
    days: () => live.current.server.alerts.keyExpiry,
  });

/** The process that opens the store sends its webhooks. */
const storedWebhooks = ({ state, alerts, clock, log }: ServeParts): StoredWebhooks | undefined =>
  state &&
  new StoredWebhooks({
    clock,
    log,
    objects: state.objects,
    entities: () => state.store?.entities,
    use: (webhooks) => alerts.useStored(webhooks),
  });

const backupsOf = ({ state, snapshot, ...setup }: ServeParts): Backups | undefined => {
  const settings = snapshot.server.state?.backup;
  return state && settings && new Backups(setup, settings, state);
};
/** The primary watches for its workers. */
function watchCertificates({ role, inForce, ...parts }: ServeParts): Certificates | undefined {
  if (role.kind === 'worker') return undefined;
  const certificates = new Certificates(parts);
  certificates.apply(inForce.settings.tls);
  return certificates;
}

function takeEffect(
  { stored, processState, settingsAudit }: ServeParts & Pick<Upkeep, 'settingsAudit'>,
  snapshot: Snapshot,
  files: readonly string[],
): void {
  snapshot.tenancy.catchUp(stored?.now);
  processState.apply(snapshot);
  settingsAudit?.reloaded(snapshot.hash, files);
}

function applyToNetwork(
  { upstream, servers, certificates }: Omit<Listening, 'drained'> & Pick<ServeParts, 'upstream'>,
  { server }: Snapshot,
  settings: Settings,
): void {
  const { tls } = settings;
  upstream.apply(outboundOf(settings));
  applyLimits(servers.data, server);
  applyCertificate(servers.data, tls.data);
  applyCertificate(servers.admin, tls.admin);
  certificates?.apply(tls);
}

const usageCountersOf = ({ clock, log, metrics, state, alerts }: ServeParts): UsageCounters => {
  const lost = new LostLeases(clock, alerts);
  return new UsageCounters(
    {
      clock,
      onLost(leases) {
        metrics.families.budgetLeasesLost.add({}, leases.length);
        lost.note(leases);
      },
      onFailure: (err) => log.error({ err }, 'counters of budgets could not be tidied'),
    },
    state,
  );
};

/** What the owner of the state store does besides serving requests. */
interface Upkeep {
  readonly auditHead: AuditHead | undefined;
  readonly settingsAudit: SettingsAudit | undefined;
  readonly spools: Spools | undefined;
  readonly retention: Retention | undefined;
}

/** Before a worker begins a spool of its own: all that are there belong to processes that have ended. */
async function upkeepOf({ clock, log, metrics, state, snapshot, budgets }: ServeParts): Promise<Upkeep> {
  const settings = snapshot.server.state;
  if (!state || !settings)
    return { auditHead: undefined, settingsAudit: undefined, spools: undefined, retention: undefined };
  const retention = new Retention({ clock, log, state, days: settings.retention });
  retention.start();
  const auditHead = new AuditHead({ clock, log, state });
  auditHead.start();
  const settingsAudit = new SettingsAudit({ clock, log, state });
  settingsAudit.started(snapshot.hash);
  const { folder } = settings;
  if (folder === undefined) return { auditHead, settingsAudit, spools: undefined, retention };
  const { Spools: Found } = await import('./state/spools.ts');
  const onReplayed = ({ lost }: Replayed): void => {
    metrics.families.spoolsReplayed.add({});
    metrics.families.ledgerExpired.add({}, lost);
  };
  const spools = new Found({ folder, state, clock, log, onReplayed });
  spools.start(budgets?.boot.id ?? '');
  return { auditHead, settingsAudit, spools, retention };
}

interface Released extends Upkeep {
  readonly usageCounters: UsageCounters;
  readonly reloader: Reloader;
  readonly live: LiveSnapshot;
  readonly certificates: Certificates | undefined;
  readonly keys: KeyWatch;
  readonly backups: Backups | undefined;
  readonly webhooks: StoredWebhooks | undefined;
}

const drainTimes = ({ drain: { delayMs, timeoutMs } }: ServerSettings, delay: boolean): DrainTimes => ({
  delayMs: delay ? delayMs : 0,
  timeoutMs,
  lingerMs: CUT_LINGER_MS,
});

interface Periodic {
  readonly keys: KeyWatch;
  readonly backups: Backups | undefined;
  readonly webhooks: StoredWebhooks | undefined;
  readonly usageCounters: UsageCounters;
  readonly live: LiveSnapshot;
}

/** Periodic tasks run in the primary only. Each worker raises its own alerts. */
function startPeriodic({ role, alerts }: ServeParts, { keys, backups, webhooks, usageCounters, live }: Periodic): void {
  alerts.start(() => usageCounters.ports, { around: (ref) => live.current.tenancy.current.around(ref) });
  if (role.kind !== 'worker') for (const one of [keys, backups, usageCounters]) one?.start();
  void webhooks?.start();
}

/** Closes everything that the process opened for requests, once none is left. */
async function releaseAll(
  { processState, ended, upstream, otel, recordFiles, state, alerts, keyUses }: ServeParts,
  {
    backups,
    webhooks,
    usageCounters,
    auditHead,
    settingsAudit,
    spools,
    retention,
    reloader,
    live,
    certificates,
    keys,
  }: Released,
): Promise<void> {
  reloader.stop();
  certificates?.stop();
  usageCounters.stop();
  retention?.stop();
  auditHead?.stop();
  await settingsAudit?.stop();
  keys.stop();
  webhooks?.stop();
  processState.kept.clear();
  processState.shared.files?.stop();
  await live.close();
  await keyUses?.flush();
  await backups?.stop();
  await processState.shared.budgets.close();
  ended.flush();
  await Promise.all([processState.ledger?.close(), spools?.close()]);
  await alerts.close();
  await Promise.all([upstream.close(), otel?.shutdown(), recordFiles?.close(), state?.close()]);
}

const lookUps = (
  { records, shared: { inFlight } }: ProcessState,
  { data }: Servers,
): Pick<WorkerGateway, 'record' | 'records' | 'load'> => ({
  record: (id) => records.find(id),
  records: (query) => records.list(query),
  load: async () => ({ requests: inFlight.size, connections: await connectionsOf(data) }),
});

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

/** A client whose reply was cut has this long to read the error. */
const CUT_LINGER_MS = 1000;
/** Shuts down within a bounded time, whatever hangs. */
async function failing(
  shutDown: (times: DrainTimes) => Promise<unknown>,
  { timeoutMs }: { readonly timeoutMs: number },
  clock: Clock,
): Promise<void> {
  const stopping = shutDown({ delayMs: 0, timeoutMs, lingerMs: CUT_LINGER_MS });
  await withinTime(stopping, timeoutMs + CUT_LINGER_MS + FAIL_EXTRA_MS, clock);
}

/** Extra time after the drain for a failing process to write records and spans. */
const FAIL_EXTRA_MS = 5000;
const AT_ONCE: DrainTimes = { delayMs: 0, timeoutMs: 0, lingerMs: 0 };

/** Runs the task at the first call. Later calls get the result of the first. */
function once<A, R>(task: (input: A) => Promise<R>): (input: A) => Promise<R> {
  let running: Promise<R> | undefined;
  return (input) => (running ??= task(input));
}

/** Every process creates all three. Its role decides which of them listen. */
interface Servers {
  readonly data: Server;
  readonly status: Server;
  readonly admin: Server;
}

interface ServerSources {
  readonly live: LiveSnapshot;
  readonly workers: WorkerPool | undefined;
  readonly targets: () => readonly string[];
  readonly explains: ExplainSource;
  /** Called while the listeners serve. */
  readonly current: () => InForce;
}

interface Listening {
  readonly servers: Servers;
  readonly drained: DrainSetup;
  readonly certificates: Certificates | undefined;
}

function createServers(
  parts: ServeParts,
  { live, workers, targets, keys, explains, current }: ServerSources & { readonly keys: KeyWatch },
): Listening {
  const { clock, log, metrics, processState, inForce, state } = parts;
  const certificates = watchCertificates(parts);
  const { inFlight, sockets, turns } = processState.shared;
  const { tls } = inForce.settings;
  const onHandshakeFailed = (reason: HandshakeFailure) => metrics.families.tlsHandshakesFailed.add({ reason });
  const { server: data, pipelines } = createDataServer(
    createRequestPath({ live, inFlight, clock, log, pluginFault: processState.shared.pluginFault }),
    live.current.server,
    { clock, inFlight, sockets, turns, current: () => live.current.server, tls: tls.data, onHandshakeFailed },
  );
  const servers = {
    data,
    status: createStatusServer({
      metrics: workers ?? metrics,
      clock,
      host: live.current.server.status.host,
      targets: async () => [
        ...(certificates?.lines() ?? []),
        ...keys.warnings(),
        ...(await (workers ? workers.targets() : targets())),
      ],
      isReady() {
        const reasons = [
          ...(inFlight.draining ? ['draining'] : []),
          ...(workers?.reasons() ?? []),
          ...(state?.reasons() ?? []),
        ];
        return { ready: reasons.length === 0, reasons };
      },
    }),
    admin: createAdminServer({
      records: workers?.records ?? processState.records,
      explains: workers?.explains ?? explains,
      log,
      state,
      clock,
      inForce: current,
      settings: () => live.current.server,
      tls: tls.admin,
    }),
  };
  const steps = new DrainSteps(pipelines, clock);
  return { servers, drained: { server: data, pipelines, steps, inFlight, sockets, clock }, certificates };
}

async function open(
  { data, status, admin }: Servers,
  { snapshot, inForce, role, port }: ServeParts,
  workers: WorkerPool | undefined,
): Promise<Pick<Gateway, 'data' | 'status' | 'admin'>> {
  const { server } = snapshot;
  const dataAddress = await (workers
    ? workers.start(inForce)
    : listen(data, { ...server.listen, port: port ?? server.listen.port }));
  // The type WorkerGateway hides the two addresses that a worker does not have.
  if (role.kind === 'worker') return { data: dataAddress, status: dataAddress, admin: undefined };
  const statusAddress: Address = await listen(status, server.status);
  return { data: dataAddress, status: statusAddress, admin: await listenAdmin(admin, server.admin) };
}

function createReloader(
  { configs, env, clock, log, metrics, processState, inForce, source, role, watchFolder }: ServeParts,
  { live, workers }: Pick<ServerSources, 'live' | 'workers'>,
  onSwap: ReloadSetup['onSwap'],
): Reloader {
  const watch = new SettingsWatch({
    clock,
    watchFolder,
    onChange: () => void reloader.reload(),
    onBlind: (folder, err) => log.warn({ err, folder }, 'this folder cannot be watched; SIGHUP reloads the settings'),
  });
  const setup: ReloadSetup = {
    configs,
    env,
    files: source,
    clock,
    log,
    metrics,
    live,
    // A worker's settings come from the primary, which watches them.
    watch: role.kind === 'worker' ? undefined : watch,
    compile: (loaded, files) => compileWith(processState, loaded, configs, files),
    readAgain: (files) => processState.explainers.get(live.current)?.readAgain(files),
    onSwap,
    onInForce: workers && ((settled) => workers.spread(settled)),
  };
  const reloader = new Reloader(setup, inForce);
  return reloader;
}
