import type { Worker } from 'node:cluster';
import type { WorkerConnections } from './connections.ts';
import type { Channel, Load } from './ipc.ts';
import type { Silence } from './silence.ts';

/** The reasons for which the primary kills a worker. Labels of a metric, so the list is closed. */
export const KILL_REASONS = ['blocked', 'drain', 'start'] as const;
export type KillReason = (typeof KILL_REASONS)[number];

/** A worker process as the primary sees it. */
export interface Member {
  readonly worker: Worker;
  readonly channel: Channel;
  readonly exited: Promise<void>;
  readonly silence: Silence;
  readonly connections: WorkerConnections;
  /** The moment since which it serves. */
  servingSince: number | undefined;
  /** The pause before it was started. */
  readonly pausedMs: number;
  /** Its last load report. */
  load: Load;
  /** It has drained by itself. */
  drained: boolean;
  killed: boolean;
  /** It finishes its requests and exits; another worker has replaced it. */
  ending: boolean;
}

export const NO_LOAD: Load = { requests: 0, connections: 0 };

/** The load of a worker when it died, as far as the primary knows: its last report is up to 250 ms old. */
export function heldBy({ load, connections, drained }: Member): Load {
  if (drained) return NO_LOAD;
  return { requests: load.requests, connections: load.connections + connections.takeAccepted() };
}
