import type { Server } from 'node:http';
import { partOf } from './add-on-parts.ts';
import type { AdminListener } from './admin-port.ts';
import { createStatusServer } from '../status/status-listener.ts';
import { applyLimits, createDataServer } from '../http/listener/data-server.ts';
import type { HandshakeFailure } from '../http/listener/handshakes.ts';
import { listen, type Address } from '../http/listener/listeners.ts';
import { applyCertificate } from '../http/listener/secure-server.ts';
import type { LiveSnapshot } from '../compose/live-snapshot.ts';
import type { Snapshot } from '../compose/snapshot.ts';
import { createRequestPath } from '../http/gateway/request-path.ts';
import type { Settings } from '../settings/read/load.ts';
import { Certificates } from './certificates.ts';
import { DrainSteps, type DrainSetup } from './drain.ts';
import { outboundOf } from './outbound.ts';
import { askPart, portOf, type ProcessParts } from './process-part.ts';
import { ObjectTrials } from './object-trials.ts';
import type { InForce, Reloader } from './reload.ts';
import type { Gateway, WorkerPool, ProcessRole } from './running-gateway.ts';
import type { SettingsFiles } from '../settings/source/files.ts';
import type { WatchFolder } from '../settings/source/watch.ts';
import { compileWith, type ProcessState } from './process-state.ts';
import type { GatewayOptions } from './gateway-options.ts';

/** A process that has its first settings and does not serve yet. */
export interface ServeParts extends ProcessParts, Pick<GatewayOptions, 'port' | 'onFaults' | 'onHint'> {
  readonly processState: ProcessState;
  readonly snapshot: Snapshot;
  readonly inForce: InForce;
  readonly source: SettingsFiles;
  readonly processRole: ProcessRole;
  readonly watchFolder: WatchFolder;
}

/** Every process creates all three. Its role decides which of them listen. */
export interface Servers {
  readonly data: Server;
  readonly status: Server;
  /** Undefined: this build has no add-on admin. */
  readonly admin: AdminListener | undefined;
}

/** The outcome of the reloads. */
export type Settled = Pick<Reloader, 'inForce' | 'last'>;

export interface ServerSources {
  readonly live: LiveSnapshot;
  readonly workers: WorkerPool | undefined;
  readonly targets: () => readonly string[];
  /** Called while the listeners serve. */
  readonly settled: () => Settled;
  readonly reload: Reloader['reload'];
}

interface Listening {
  readonly servers: Servers;
  readonly drained: DrainSetup;
  readonly certificates: Certificates | undefined;
}

export function createServers(
  parts: ServeParts,
  { live, workers, targets, settled, reload }: ServerSources,
): Listening {
  const { clock, log, metrics, processState, inForce, store, onHint } = parts;
  const certificates = watchCertificates(parts);
  const { inFlight, turns, taps } = processState.shared;
  const [upgrades, explain] = [portOf(processState.parts, 'upgrades'), portOf(processState.parts, 'explain')];
  const { tls } = inForce.settings;
  // Without an admin API, too: another gateway may write to the store.
  const trials = trialsOf(parts, settled, reload);
  const onHandshakeFailed = (reason: HandshakeFailure) => metrics.families.tlsHandshakesFailed.add({ reason });
  const { server: data, pipelines } = createDataServer(
    createRequestPath({ live, inFlight, clock, log, taps, pluginFault: processState.shared.pluginFault, onHint }),
    live.current.server,
    { clock, inFlight, upgrades, turns, current: () => live.current.server, tls: tls.data, onHandshakeFailed },
  );
  const servers = {
    data,
    status: createStatusServer({
      metrics: workers ?? metrics,
      clock,
      host: live.current.server.status.host,
      targets: async () => [
        ...(certificates?.lines() ?? []),
        ...processState.parts.flatMap((part) => part.lines?.() ?? []),
        ...(await (workers ? workers.targets() : targets())),
      ],
      isReady() {
        const draining = inFlight.draining ? ['draining'] : [];
        const reasons = [...draining, ...(workers?.reasons() ?? []), ...(store?.reasons() ?? [])];
        return { ready: reasons.length === 0, reasons };
      },
    }),
    admin: partOf('createAdmin')?.({
      records: workers?.records ?? processState.records,
      explains: workers?.explains ?? explain?.explains,
      explain,
      console: portOf(processState.parts, 'console'),
      alerts: portOf(processState.parts, 'alertDesk'),
      captures: portOf(processState.parts, 'captures'),
      log,
      state: store,
      env: parts.env,
      configs: parts.configs,
      replica: () => portOf(processState.parts, 'usage')?.fleet.self(),
      trials,
      clock,
      inForce: () => settled().inForce,
      lastReload: () => settled().last,
      ask: async (topic, question, of) =>
        workers ? workers.ask(topic, question, of) : [{ answer: await askPart(processState.parts, topic, question) }],
      settings: () => live.current.server,
      tls: tls.admin,
    }),
  };
  const steps = new DrainSteps(pipelines, clock);
  return { servers, drained: { server: data, pipelines, steps, inFlight, upgrades, clock }, certificates };
}

/** The store's entries of the catalog take effect with the settings. */
const trialsOf = (
  { store, processState, ...parts }: ServeParts,
  settled: ServerSources['settled'],
  reload: ServerSources['reload'],
): ObjectTrials | undefined =>
  store &&
  new ObjectTrials({
    ...parts,
    objects: store.objects,
    inForce: () => settled().inForce,
    reload,
    compile: (loaded, files) => compileWith(processState, loaded, parts.configs, files),
  });

/** Opens the listeners of the role: a worker has one, the primary has the others. */
export async function openListeners(
  { data, status, admin }: Servers,
  { snapshot, inForce, role, port }: ServeParts,
  workers: WorkerPool | undefined,
): Promise<Pick<Gateway, 'data' | 'status' | 'admin'>> {
  const { server } = snapshot;
  const dataAddress = await (workers
    ? workers.start(inForce)
    : listen(data, { ...server.listen, port: port ?? server.listen.port }));
  // The type WorkerGateway hides the two addresses that a worker does not have.
  if (role === 'worker') return { data: dataAddress, status: dataAddress, admin: undefined };
  const statusAddress: Address = await listen(status, server.status);
  return { data: dataAddress, status: statusAddress, admin: await admin?.listen(server.admin) };
}

/** The primary watches for its workers. */
function watchCertificates({ role, inForce, ...parts }: ServeParts): Certificates | undefined {
  if (role === 'worker') return undefined;
  const certificates = new Certificates(parts);
  certificates.apply(inForce.settings.tls);
  return certificates;
}

/** New settings for sockets: limits, certificates, connections to upstreams. */
export function applyToNetwork(
  { upstream, servers, certificates }: Omit<Listening, 'drained'> & Pick<ServeParts, 'upstream'>,
  { server }: Snapshot,
  settings: Settings,
): void {
  const { tls } = settings;
  upstream.apply(outboundOf(settings));
  applyLimits(servers.data, server);
  applyCertificate(servers.data, tls.data);
  if (servers.admin) applyCertificate(servers.admin.server, tls.admin);
  certificates?.apply(tls);
}

export const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
