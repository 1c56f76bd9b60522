import { writeSync } from 'node:fs';
import { LineWriter, type Dropped, type DropReason } from './line-writer.ts';

/** As much as one read of Docker's log copier takes; more would be cut there. */
const BATCH_BYTES = 16 * 1024;
/** PIPE_BUF (POSIX), 4096 on Linux: a pipe takes this much whole or not at all, so that lines of several processes never mix. */
const ATOMIC_BATCH_BYTES = 4096;

export interface LogOutputOptions {
  /** Whether other processes write to the same place. */
  readonly shared: boolean;
  readonly onDrop: (reason: DropReason, lines: number) => void;
  readonly onRecover: (dropped: Dropped) => void;
}

/** Standard output as the place of the log, for as long as the process lives. */
export function openLogOutput({ shared, onDrop, onRecover }: LogOutputOptions): { write(line: string): void } {
  const writer = new LineWriter({
    // Node makes pipes and sockets non-blocking when this property is first read.
    fd: process.stdout.fd,
    batchBytes: shared ? ATOMIC_BATCH_BYTES : BATCH_BYTES,
    onDrop,
    onRecover,
  });
  process.once('exit', () => reportLost(writer.end()));
  return writer;
}

function reportLost(lines: number): void {
  if (lines === 0) return;
  try {
    writeSync(process.stderr.fd, `gatehouse: ${lines} log ${lines === 1 ? 'line' : 'lines'} could not be written\n`);
  } catch {
    // There is nowhere left to say it.
  }
}
