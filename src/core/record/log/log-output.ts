import { writeSync } from 'node:fs';
import { LineWriter, type Dropped, type DropReason } from './line-writer.ts';

/** The size of one read of Docker's log copier, which splits larger writes. */
const BATCH_BYTES = 16 * 1024;
/** PIPE_BUF on Linux: a pipe writes this much atomically, so that lines of several processes never mix. */
const ATOMIC_BATCH_BYTES = 4096;

export interface LogOutput {
  write(line: string): void;
  /** Writes a line together with others, a few milliseconds later. */
  writeSoon(line: string): void;
}

export class TeeOutput implements LogOutput {
  readonly #output: LogOutput;
  #also: ((line: string) => void) | undefined;

  constructor(output: LogOutput) {
    this.#output = output;
  }

  alsoTo(also: (line: string) => void): void {
    this.#also = also;
  }

  write(line: string): void {
    this.#output.write(line);
    this.#also?.(line);
  }

  writeSoon(line: string): void {
    this.#output.writeSoon(line);
    this.#also?.(line);
  }
}

interface LogOutputOptions {
  readonly shared: boolean;
  readonly onDrop: (reason: DropReason, lines: number) => void;
  readonly onRecover: (dropped: Dropped) => void;
  /** Called before the last lines are written, at the exit of the process. */
  readonly onExit: () => void;
}

/** Opens standard output as the log's destination for the lifetime of the process. */
export function openLogOutput({ shared, onDrop, onRecover, onExit }: LogOutputOptions): LogOutput {
  const writer = new LineWriter({
    // Node makes pipes and sockets non-blocking when this property is first read.
    fd: process.stdout.fd,
    batchBytes: shared ? ATOMIC_BATCH_BYTES : BATCH_BYTES,
    onDrop,
    onRecover,
  });
  process.once('exit', () => {
    onExit();
    reportLost(writer.end());
  });
  return writer;
}

function reportLost(lines: number): void {
  if (lines === 0) return;
  try {
    writeSync(process.stderr.fd, `gatehouse: ${lines} log ${lines === 1 ? 'line' : 'lines'} could not be written\n`);
  } catch {
    // Standard error fails as well, so nothing can report it.
  }
}
