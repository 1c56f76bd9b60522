import type { EventEmitter } from 'node:events';

/** A connection that waited this long is refused: after twice this time another worker may have it. */
const STALE_MS = 1000;

/** When the primary sent a connection that it may move, on a clock that all processes share. */
export interface Stamped {
  readonly sentAt?: number;
}

/** The system's monotonic clock in milliseconds, the same in every process. */
export const sharedClock = (): number => Number(process.hrtime.bigint() / 1_000_000n);

interface NewConnection extends Stamped {
  readonly act?: unknown;
  readonly seq?: unknown;
}

type WorkerProcess = EventEmitter & { readonly send?: (message: object) => unknown };

/** Intercepts node:cluster's messages in a worker: a message about a connection cannot be stopped in any other way. */
export function refuseStaleConnections(process: WorkerProcess, now: () => number = sharedClock): void {
  const listeners = process.listeners('internalMessage') as ((message: NewConnection, handle: unknown) => void)[];
  process.removeAllListeners('internalMessage');
  process.on('internalMessage', (message: NewConnection, handle: unknown) => {
    const { act, seq, sentAt } = message;
    if (act === 'newconn' && sentAt !== undefined && now() - sentAt >= STALE_MS) {
      process.send?.({ cmd: 'NODE_CLUSTER', ack: seq, accepted: false });
      // Closes only this process's copy; the primary has its own.
      (handle as { close(): void } | undefined)?.close();
      return;
    }
    for (const listener of listeners) listener.call(process, message, handle);
  });
}
