import type { Explain } from '../../core/process/explain-port.ts';
import { askPart, portOf } from '../../core/process/process-part.ts';
import type { HeaderHint } from '../../core/http/gateway/request-path.ts';
import cluster from 'node:cluster';
import { WorkerLabels } from '../../core/catalog/model-labels.ts';
import { sentFiles, withStoredObjects, type ReadPlaces } from '../../core/settings/source/files.ts';
import { StartFailed } from '../../core/process/start-failed.ts';
import type { Alert } from '../../core/ports/alert.ts';
import { systemClock } from '../../core/kernel/system-clock.ts';
import { newBoot } from '../../core/ports/boot.ts';
import { startWorker } from '../../core/process/gateway.ts';
import type { WorkerGateway } from '../../core/process/running-gateway.ts';
import { CannotListen } from '../../core/http/listener/listeners.ts';
import { surviveOutputErrors } from '../../core/process/output-errors.ts';
import { answer, type WorkerAnswers, type StartFailure, type ToPrimary, type ToWorker } from './ipc.ts';
import type { Load } from '../../core/process/drain.ts';
import { setFaultHandler, handleUnhandledErrors, type FaultHandler } from '../../core/process/process-faults.ts';
import { SettingsRefused } from '../../core/settings/source/diagnostic.ts';
import { SharedResponses } from './shared-responses.ts';
import { SharedState } from './shared-state.ts';
import { ObjectReplica } from '../../core/settings/source/stored-objects.ts';
import { refuseStaleConnections } from './stale-connection.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

/** A worker process: serves requests with the primary's settings and exits with the primary. */

/** Interval of metrics reports. A killed worker loses at most what it counted in this time. */
const METRICS_EVERY_MS = 1_000;
/** Interval of load reports. A killed worker's last report is at most this old. */
const LOAD_EVERY_MS = 250;
/** Limit of the event loop's time that metrics reports may take from requests. */
const METRICS_SHARE = 0.02;

let gateway: WorkerGateway | undefined;
let files: ReadPlaces;

const send = (message: ToPrimary): void => {
  // Without a channel the primary is gone, and this process is about to exit.
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
};

const models = new WorkerLabels(
  () => systemClock.now(),
  (use) => send({ type: 'label', use }),
);

const responses = new SharedResponses(send, systemClock);
const state = new SharedState(send, systemClock);
/** The primary sends the objects of the store before it asks for the start, and then every change. */
const stored = new ObjectReplica();
const budgets = { counters: state.counters, boot: newBoot('worker', systemClock) };
const onHint = (hint: HeaderHint): void => send({ type: 'hint', hint });
const alerts = { raise: (alert: Alert) => send({ type: 'alert', alert }) };

const tell = (topic: string, message: unknown): void => send({ type: 'told', topic, message });

/** A worker that has begun to serve is replaced while it ends. */
const onFaults = ({ pluginFault, fail }: FaultHandler): void =>
  setFaultHandler({
    pluginFault,
    fail() {
      if (gateway) send({ type: 'ending' });
      return fail();
    },
  });

const answers: WorkerAnswers = {
  async start({ configs, files: sent, port }) {
    files = sent;
    try {
      const { ledger, entities, claims } = state;
      const shared = { responses, budgets, alerts, ledger, stored, writeKeyUses: entities.seen, claims, tell };
      const own = withStoredObjects(
        sentFiles(() => files),
        () => stored.now,
      );
      const options = { configs, env: process.env, files: own, port, onFaults, onHint, models, shared };
      gateway = await startWorker(options, cluster.worker?.id ?? 0);
    } catch (error) {
      // Delayed, so that the answer leaves before the process exits.
      setTimeout(() => process.exit(1), 100);
      return { failure: failureOf(error) };
    }
    void keepSending(gateway);
    keepSendingLoad(gateway);
    return { address: gateway.data };
  },
  async reload({ files: sent }) {
    files = sent;
    const result = await started().reload();
    return { hash: result.hash, refused: 'diagnostics' in result ? result.diagnostics : undefined };
  },
  metrics: async () => sendMetrics(started(), 'all'),
  record: async ({ id }) => started().record(id),
  records: async (query) => started().recordPage(query),
  explain: async (args) => explained().explains.explain(args),
  keeps: async ({ id }) => explained().keeps(id),
  explained: async ({ id }) => explained().explains.explained(id),
  part: ({ topic, question }) => askPart(started().parts, topic, question),
  alive: async () => {},
  targets: async () => started().targets(),
  labels: async (names) => models.follow(names),
  share: async (workers) => started().shareLimits(workers),
  drain: (times) => started().shutDown(times),
  drainStep: async (step) => started().drainStep(step),
};

function started(): WorkerGateway {
  if (!gateway) throw new Error('not started');
  return gateway;
}

/** The primary asks only where there is the add-on. */
const explained = (): Explain => portOf(started().parts, 'explain')!;

let sending: Promise<void> = Promise.resolve();

/** Serialised: of two concurrent reports the older could arrive last. */
function sendMetrics({ metrics, load }: WorkerGateway, which: 'all' | 'cumulative'): Promise<void> {
  const reported = sending.then(async () => {
    const [families, held] = await Promise.all([metrics.snapshot(which), load()]);
    send({ type: 'metrics', which, families, load: held });
  });
  sending = reported.catch(() => {});
  return reported;
}

async function keepSending(gateway: WorkerGateway): Promise<void> {
  for (let pauseMs = METRICS_EVERY_MS; ;) {
    await systemClock.sleep(pauseMs);
    const from = systemClock.now();
    await sendMetrics(gateway, 'cumulative').catch(() => {});
    pauseMs = Math.max(METRICS_EVERY_MS, (systemClock.now() - from) / METRICS_SHARE);
  }
}

function keepSendingLoad({ load }: WorkerGateway): void {
  let last: Load = { requests: 0, connections: 0 };
  const look = async (): Promise<void> => {
    const now = await load();
    if (now.requests === last.requests && now.connections === last.connections) return;
    last = now;
    send({ type: 'load', load: now });
  };
  setInterval(() => void look(), LOAD_EVERY_MS).unref();
}

function failureOf(error: unknown): StartFailure {
  if (error instanceof SettingsRefused) return { kind: 'settings', diagnostics: error.diagnostics };
  const message = messageOf(error);
  if (error instanceof CannotListen) return { kind: 'listen', message, unknownHost: error.unknownHost };
  return { kind: error instanceof StartFailed ? 'start' : 'other', message };
}

handleUnhandledErrors();
surviveOutputErrors();
refuseStaleConnections(process);
// A terminal sends signals to the whole process group. The primary decides what they mean.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToWorker) => {
  if (message.type === 'responses') responses.receive(message);
  else if (message.type === 'state') state.receive(message);
  else if (message.type === 'stored') stored.apply(message.changes);
  else void answer(message, answers, send);
});
