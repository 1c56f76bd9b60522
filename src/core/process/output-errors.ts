import type { Writable } from 'node:stream';

/** The same limit as the log's buffer for a stalled reader (record/log/line-writer.ts). */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Keeps a serving process alive when standard output or standard error fails: the output is lost. By default Node
 * treats an `error` event without a listener as an uncaught exception, and keeps unread output in memory.
 */
export function surviveOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => {});
    boundWaiting(stream);
  }
}

/**
 * Drops writes while too much output is unread. Without this, a plugin's `console.log` is unbounded if nothing reads
 * the pipe.
 */
export function boundWaiting(stream: Writable): void {
  const write: (...args: never) => boolean = stream.write.bind(stream);
  stream.write = (...args: readonly unknown[]): boolean => {
    if (stream.writableLength < MAX_WAITING_BYTES) return Reflect.apply(write, stream, args);
    const done = args.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return false;
  };
}
