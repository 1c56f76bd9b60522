import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { Clock } from '../../plugin/index.ts';
import { SettingsWatch } from '../settings/source/watch.ts';
import { drain, type DrainTimes } from './drain.ts';
import { portOf, type Ports } from './process-part.ts';
import type { Gateway, WorkerGateway, WorkerPoolTools } from './running-gateway.ts';
import { healthLines } from './health-metrics.ts';
import { compileWith, type ProcessState } from './process-state.ts';
import { LiveSnapshot } from '../compose/live-snapshot.ts';
import { close } from '../http/listener/listeners.ts';
import { Reloader, type ReloadSetup } from './reload.ts';
import type { Snapshot } from '../compose/snapshot.ts';
import {
  type ServeParts,
  applyToNetwork,
  connectionsOf,
  createServers,
  openListeners,
  type Servers,
  type ServerSources,
  type Settled,
} from './servers.ts';
import { withinTime } from '../compose/time-limit.ts';

/** Starts serving with the first settings and opens the listeners of this process's role. */
export async function serve(parts: ServeParts): Promise<Gateway & WorkerGateway> {
  const { clock, metrics, processState, processRole: role, role: kind, store, snapshot } = parts;
  const { inFlight, pluginFault } = processState.shared;
  const port = <K extends keyof Ports>(key: K): Ports[K] | undefined => portOf(processState.parts, key);
  const live = liveSnapshot(parts);
  const { hash } = snapshot;
  const serving = { role: kind, hash, tenants: () => live.current.tenancy.current };
  for (const part of processState.parts) await part.begin?.(serving);
  const [responses, alerts, usage] = [port('responses'), port('alerts'), port('usage')];
  const shared = { responses, alerts, usage, told: tellerOf(processState) };
  const workers = role.kind === 'primary' ? role.workers({ ...parts, ...shared }) : undefined;
  const targets = () => healthLines(processState.shared.health.reports());
  const sources = { live, workers, targets, settled: (): Settled => reloader, reload: () => reloader.reload() };
  const { servers, drained, certificates } = createServers(parts, sources);
  const reloader: Reloader = createReloader(parts, { live, workers }, (snapshot, changed) => {
    takeEffect(parts, { snapshot, changed });
    applyToNetwork({ upstream: parts.upstream, servers, certificates }, snapshot, reloader.inForce.settings);
  });
  const release = () => releaseAll(parts, { live, tasks: [reloader, certificates] });
  const shutDown = once(async (times: DrainTimes): Promise<{ cut: number }> => {
    metrics.families.draining.set({}, 1);
    reloader.stop();
    inFlight.drain();
    const cut = await (workers ? workers.drain(times) : drain(drained, times));
    await Promise.all([servers.status, servers.admin?.server].map((server) => server && close(server)));
    await release();
    return { cut };
  });
  const fail = () => failing(shutDown, live.current.server.drain, clock);
  // Requests arrive, and plugins run, as soon as a listener is open.
  parts.onFaults?.({ pluginFault, fail });
  const addresses = await openListeners(servers, parts, workers).catch(async (error: unknown) => {
    await Promise.all([servers.data, servers.status, servers.admin?.server].map((server) => server && close(server)));
    await workers?.drain(AT_ONCE);
    await release();
    throw error;
  });
  if (role.kind !== 'worker') await reloader.watch();
  for (const part of processState.parts) part.start?.(serving, servers.data);
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
    state: store,
    ...lookUps(processState, servers),
    targets,
    parts: processState.parts,
    shareLimits: (processes) => processState.parts.forEach((part) => part.shareLimits?.(processes)),
    reload: reloader.reload,
    shutDown,
    drainStep: (step) => drained.steps.take(step),
    drain: ({ delay = true } = {}) => shutDown(drainTimes(live.current.server, delay)),
    close: async (graceMs = 0) => void (await shutDown({ ...AT_ONCE, timeoutMs: graceMs })),
  };
}

/** A message of a worker goes to the parts of this process. */
const tellerOf =
  ({ parts }: Pick<ProcessState, 'parts'>): NonNullable<WorkerPoolTools['told']> =>
  (topic, message, worker) =>
    parts.forEach((part) => part.told?.(topic, message, worker));

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

function takeEffect(
  { stored, processState }: ServeParts,
  { snapshot, changed }: { readonly snapshot: Snapshot; readonly changed: readonly string[] },
): void {
  snapshot.tenancy.catchUp(stored?.now);
  processState.apply(snapshot);
  for (const part of processState.parts) part.reloaded?.(snapshot.hash, changed);
}

const drainTimes = ({ drain: { delayMs, timeoutMs } }: ServerSettings, delay: boolean): DrainTimes => ({
  delayMs: delay ? delayMs : 0,
  timeoutMs,
  lingerMs: CUT_LINGER_MS,
});

interface Released {
  /** Stopped first, in this order. */
  readonly tasks: readonly ({ stop(): Promise<void> | void } | undefined)[];
  readonly live: LiveSnapshot;
}

/** Closes everything that the process opened for requests, once none is left. */
async function releaseAll(
  { processState: { parts }, ended, upstream, otel, recordFiles, store }: ServeParts,
  { tasks, live }: Released,
): Promise<void> {
  for (const task of tasks) await task?.stop();
  for (const part of parts) await part.stop?.();
  await live.close();
  for (const part of parts) await part.settle?.();
  ended.flush();
  for (const part of parts) await part.close?.();
  await Promise.all([upstream.close(), otel?.shutdown(), recordFiles?.close(), store?.close()]);
}

const lookUps = (
  { records, shared: { inFlight } }: ProcessState,
  { data }: Servers,
): Pick<WorkerGateway, 'record' | 'records' | 'recordPage' | 'load'> => ({
  record: (id) => records.find(id),
  records: (query) => records.list(query),
  recordPage: (query) => records.page(query),
  load: async () => ({ requests: inFlight.size, connections: await connectionsOf(data) }),
});

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

function createReloader(
  parts: ServeParts,
  { live, workers }: Pick<ServerSources, 'live' | 'workers'>,
  onSwap: ReloadSetup['onSwap'],
): Reloader {
  const { configs, clock, log, processState, inForce, source, role, watchFolder } = parts;
  const watch = new SettingsWatch({
    clock,
    watchFolder,
    onChange: () => void reloader.reload(),
    onBlind: (folder, err) => log.warn({ err, folder }, 'this folder cannot be watched; SIGHUP reloads the settings'),
  });
  const setup: ReloadSetup = {
    ...parts,
    files: source,
    live,
    // A worker's settings come from the primary, which watches them.
    watch: role === 'worker' ? undefined : watch,
    compile: (loaded, files) => compileWith(processState, loaded, configs, files),
    readAgain: (files) => portOf(processState.parts, 'explain')?.readAgain(files),
    onSwap,
    onEnd: (refused) => processState.parts.forEach((part) => part.reloadEnded?.(refused)),
    onInForce: workers && ((settled) => workers.spread(settled)),
  };
  const reloader = new Reloader(setup, inForce);
  return reloader;
}
