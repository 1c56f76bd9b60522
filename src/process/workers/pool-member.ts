import type { Worker } from 'node:cluster';
import type { WorkerConnections } from './connections.ts';
import type { Channel, Load } from './ipc.ts';
import type { Silence } from './silence.ts';

/** Why the primary killed a worker. Labels of a metric: the list is closed. */
export const KILL_REASONS = ['blocked', 'drain', 'start'] as const;
export type KillReason = (typeof KILL_REASONS)[number];

/** A worker process, as the primary knows it. */
export interface Member {
  readonly worker: Worker;
  readonly channel: Channel;
  readonly exited: Promise<void>;
  readonly silence: Silence;
  readonly connections: WorkerConnections;
  /** Since when it serves. */
  servingSince: number | undefined;
  /** How long its place was empty before it. */
  readonly pausedMs: number;
  /** What it has said last of what it holds. */
  load: Load;
  /** It ended what it held by itself. */
  drained: boolean;
  killed: boolean;
  /** It serves what it has, and ends: another one has its place. */
  ending: boolean;
}

export const NO_LOAD: Load = { requests: 0, connections: 0 };

/** What a worker held when it died, as far as the primary knows: its last word is up to a quarter of a second old. */
export function heldBy({ load, connections, drained }: Member): Load {
  if (drained) return NO_LOAD;
  return { requests: load.requests, connections: load.connections + connections.takeAccepted() };
}
