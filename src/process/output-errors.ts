import type { Writable } from 'node:stream';

/** As much as the log keeps for a reader that stalls (record/log/line-writer.ts). */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * For a process that serves: what cannot be written to standard output or standard error is lost, and no reason to end. Node
 * would take an `error` event without a listener for an uncaught exception, and keep all that waits for a reader in memory.
 */
export function surviveOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => {});
    boundWaiting(stream);
  }
}

/** Drops what is written while too much waits: `console.log` of a plugin has no other bound where nothing reads the pipe. */
export function boundWaiting(stream: Writable): void {
  const write: (...args: never) => boolean = stream.write.bind(stream);
  stream.write = (...args: readonly unknown[]): boolean => {
    if (stream.writableLength < MAX_WAITING_BYTES) return Reflect.apply(write, stream, args);
    const done = args.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return false;
  };
}
