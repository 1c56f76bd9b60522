import cluster, { type Worker } from 'node:cluster';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SettingsRefused } from '../../settings/problems/refused.ts';
import { TraceSettingsError } from '../../record/traces/trace-settings.ts';
import { CannotListen } from '../../compose/listener/listeners.ts';
import type { StartFailure } from './ipc.ts';

/** Beside this file in the sources and in `dist/` alike, with the same extension. */
const WORKER_MAIN = fileURLToPath(new URL(`./worker-main${extname(import.meta.url)}`, import.meta.url));

/** A worker did not come to serve, for no reason that the settings explain. */
export class WorkersFailed extends Error {
  override readonly name = 'WorkersFailed';
}

/** There is no process that could end and be replaced. */
export class CannotFork extends WorkersFailed {}

/** No signal opens the inspector in a worker, whatever its primary was started with. */
const WORKER_FLAGS = [...new Set([...process.execArgv, '--disable-sigusr1'])];

/** A structured clone keeps what JSON loses: maps, NaN. */
export function setUpFork(): void {
  // The primary accepts all connections, whatever NODE_CLUSTER_SCHED_POLICY says: it can move them, and close the port on none.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: WORKER_MAIN, args: [], execArgv: WORKER_FLAGS, serialization: 'advanced' });
}

/** Where the system starts no more processes, Node throws or emits `error`, and there never is an `exit`. */
export function forkWorker(): Worker {
  let worker: Worker | undefined;
  try {
    worker = cluster.fork();
  } catch (error) {
    throw new CannotFork(error instanceof Error ? error.message : String(error));
  }
  if (worker.process.pid !== undefined) return worker;
  worker.on('error', () => {});
  throw new CannotFork('the system starts no more processes');
}

export function failureOf(failure: StartFailure): Error {
  if (failure.kind === 'settings') return new SettingsRefused(failure.diagnostics);
  if (failure.kind === 'listen') return new CannotListen(failure.message, failure);
  if (failure.kind === 'traces') return new TraceSettingsError(failure.message);
  return new WorkersFailed(`a worker did not start: ${failure.message}`);
}
