import type { Writable } from 'node:stream';

/** The same limit as the log's buffer for a stalled reader (record/log/line-writer.ts). */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Survives a failing standard output or error: by default Node ends the process, or keeps unread output. */
export function surviveOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', () => {});
    boundWaiting(stream);
  }
}

/** Drops writes while too much is unread: a plugin's `console.log` is unbounded otherwise. */
export function boundWaiting(stream: Writable): void {
  const write: (...args: never) => boolean = stream.write.bind(stream);
  stream.write = (...args: readonly unknown[]): boolean => {
    if (stream.writableLength < MAX_WAITING_BYTES) return Reflect.apply(write, stream, args);
    const done = args.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return false;
  };
}
