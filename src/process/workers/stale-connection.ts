import type { EventEmitter } from 'node:events';

/**
 * A connection that has waited in the channel of a blocked worker for so long is refused by this worker: the primary may hand it
 * to another from twice as long on (MOVE_AFTER_TICKS in connections.ts), and two processes must not read the same connection.
 */
export const STALE_MS = 1000;

/** What the primary adds to a connection that it may hand on, by the clock that all processes of a machine share. */
export interface Stamped {
  readonly sentAt?: number;
}

/** The monotonic clock of the system, in milliseconds: the same in every process. */
export const sharedClock = (): number => Number(process.hrtime.bigint() / 1_000_000n);

interface NewConnection extends Stamped {
  readonly act?: unknown;
  readonly seq?: unknown;
}

type WorkerProcess = EventEmitter & { readonly send?: (message: object) => unknown };

type Listener = (message: NewConnection, handle: unknown) => void;

/** Stands before node:cluster in a worker: its message about a connection cannot be stopped any other way. */
export function refuseStaleConnections(process: WorkerProcess, now: () => number = sharedClock): void {
  const listeners = process.listeners('internalMessage') as Listener[];
  process.removeAllListeners('internalMessage');
  process.on('internalMessage', (message: NewConnection, handle: unknown) => {
    const { act, seq, sentAt } = message;
    if (act === 'newconn' && sentAt !== undefined && now() - sentAt >= STALE_MS) {
      process.send?.({ cmd: 'NODE_CLUSTER', ack: seq, accepted: false });
      // This process's copy: the primary has its own.
      (handle as { close(): void } | undefined)?.close();
      return;
    }
    for (const listener of listeners) listener.call(process, message, handle);
  });
}
