import type { ChildProcess } from 'node:child_process';

/**
 * Makes a worker's channel emit `disconnect` whenever it closes. Node omits the event if the worker dies before it has
 * confirmed a connection in transit (Node 24, `_handleQueue` in internal/child_process). node:cluster waits for this
 * event: without it the worker stays in the rotation, connections are handed to it and lost, and the port stays open
 * without a worker.
 */
export function completeDisconnect(process: ChildProcess): void {
  let isReported = false;
  process.once('disconnect', () => (isReported = true));
  const disconnect = process.disconnect.bind(process);
  // Node also calls this method when the channel closes.
  process.disconnect = () => {
    disconnect();
    // Node emits in the next tick. A channel with queued messages is not null yet and emits later.
    globalThis.process.nextTick(() => {
      if (!isReported && !process.channel) process.emit('disconnect');
    });
  };
}
