import { StartFailed } from '../../core/process/start-failed.ts';
import cluster, { type Worker } from 'node:cluster';
import { moduleFile } from '../../core/kernel/package-root.ts';
import { SettingsRefused } from '../../core/settings/source/diagnostic.ts';
import { CannotListen } from '../../core/http/listener/listeners.ts';
import type { StartFailure } from './ipc.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

const WORKER_MAIN = moduleFile('src/cli/worker');

/** Thrown if a worker did not start for a reason other than the settings. */
export class WorkersFailed extends StartFailed {
  override readonly name = 'WorkersFailed';
}

/** Thrown if no process was started, so that none can exit and be replaced. */
export class CannotFork extends WorkersFailed {}

/** No signal opens the inspector in a worker, whatever the primary's flags. */
const WORKER_FLAGS = [...new Set([...process.execArgv, '--disable-sigusr1'])];

/** Uses structured clones, which keep maps and NaN, unlike JSON. */
export function setUpFork(): void {
  // The primary accepts all connections, regardless of NODE_CLUSTER_SCHED_POLICY: only then can it move connections and
  // close the port without losing any.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: WORKER_MAIN, args: [], execArgv: WORKER_FLAGS, serialization: 'advanced' });
}

/** If the system cannot start more processes, Node throws or emits `error`, and never emits `exit`. */
export function forkWorker(): Worker {
  let worker: Worker | undefined;
  try {
    worker = cluster.fork();
  } catch (error) {
    throw new CannotFork(messageOf(error));
  }
  if (worker.process.pid !== undefined) return worker;
  worker.on('error', () => {});
  throw new CannotFork('the system cannot start another process');
}

export function failureOf(failure: StartFailure): Error {
  if (failure.kind === 'settings') return new SettingsRefused(failure.diagnostics);
  if (failure.kind === 'listen') return new CannotListen(failure.message, failure);
  if (failure.kind === 'start') return new StartFailed(failure.message);
  return new WorkersFailed(`a worker did not start: ${failure.message}`);
}

/** A worker that served for less than this counts as failed at its start. */
const SHORT_LIFE_MS = 1_000;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * The pause before a worker is replaced: none if it served; otherwise growing with each failed start, because repeated
 * starts would use the whole machine.
 *
 * @param servedMs undefined: it never served
 * @param before the previous pause
 */
export const pauseBefore = (servedMs: number | undefined, before: number): number =>
  servedMs !== undefined && servedMs >= SHORT_LIFE_MS ? 0 : Math.min(Math.max(FIRST_MS, before * 2), LONGEST_MS);
