import type { ChildProcess } from 'node:child_process';

/**
 * Makes a worker's channel emit `disconnect` whenever it ends. Node leaves the event out where the worker dies before it has
 * confirmed a connection on its way to it (Node 24, `_handleQueue` in internal/child_process). node:cluster waits for this event:
 * without it the worker keeps its place in the round, connections are handed to it and lost, and the port stays open with no worker
 * behind it.
 */
export function completeDisconnect(process: ChildProcess): void {
  let isReported = false;
  process.once('disconnect', () => (isReported = true));
  const disconnect = process.disconnect.bind(process);
  // Node calls this method at the end of the channel, too.
  process.disconnect = () => {
    disconnect();
    // Node emits in the tick after. A channel that still sends what is queued is not null, and emits later.
    globalThis.process.nextTick(() => {
      if (!isReported && !process.channel) process.emit('disconnect');
    });
  };
}
