import { write, writeSync } from 'node:fs';

/** Why a line was not written. Labels of a metric: the list is closed. */
export const DROP_REASONS = ['no_space', 'stalled', 'closed', 'error'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export type Dropped = Partial<Record<DropReason, number>>;

type Written = (error: NodeJS.ErrnoException | null, bytes: number) => void;

/** The system calls, and the time. Injected by tests. */
export interface LineWriterSystem {
  write(fd: number, data: string | Buffer, written: Written): void;
  /** Throws as `fs.writeSync` does. */
  writeSync(fd: number, data: Buffer): number;
  /** Runs `task` after `ms`; does not keep the process alive. */
  after(ms: number, task: () => void): void;
  now(): number;
  /** Blocks the whole process for `ms`. */
  pause(ms: number): void;
}

export interface LineWriterOptions {
  readonly fd: number;
  /** Maximum size of a batch of lines written together. */
  readonly batchBytes: number;
  readonly onDrop: (reason: DropReason, lines: number) => void;
  /** Called when all waiting lines have been written after lines were dropped; at most once a second. */
  readonly onRecover: (dropped: Dropped) => void;
  readonly system?: LineWriterSystem;
}

/**
 * Maximum bytes waiting for a slow reader: some 1,700 access lines, and as much as Docker's own non-blocking log driver
 * keeps.
 */
const MAX_WAITING_BYTES = 1024 * 1024;
/** The first retry on a full pipe waits this long; each further one waits twice as long, at most LONGEST_RETRY_MS. */
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 100;
/** At the end of the process, a full pipe has this long to take the remaining lines. */
const END_LIMIT_MS = 500;
const END_PAUSE_MS = 10;
const REPORT_EVERY_MS = 1000;
/** Maximum delay of a line that need not leave at once. */
const GATHER_MS = 10;
const NEWLINE = 10;

/**
 * Writes lines to a file descriptor without ever blocking the process. A failed write (a full disk, a closed pipe)
 * drops its lines. A stalled reader makes lines wait, up to a limit, and further lines are dropped. Every dropped line
 * is counted. The next line is tried again, so that logging resumes once the cause is gone. Node's thread pool runs one
 * write at a time; lines that arrive meanwhile are batched. A write wakes a thread, which takes 20 µs of processor time
 * (measured), so the lines of requests are gathered before one begins. The descriptor of a pipe or a socket must be
 * non-blocking, as Node makes it when `process.stdout` is first used: a thread that blocks in a write keeps the process
 * from ending.
 */
export class LineWriter {
  readonly #options: LineWriterOptions;
  readonly #system: LineWriterSystem;
  /** Waiting batches, each at most `batchBytes` or one longer line. */
  #batches: string[] = [];
  #lastBatchBytes = 0;
  /** The last batch may wait for more lines. */
  #isGathering = false;
  /** Bytes of the waiting batches and of the current write. */
  #heldBytes = 0;
  /** The unwritten rest of the current batch. */
  #rest: string | Buffer = '';
  #state: 'idle' | 'writing' | 'pausing' | 'ended' = 'idle';
  #retryMs = 0;
  /** The last written line was truncated, so that the next one must begin with a line feed. */
  #lineIsCut = false;
  #dropped: Dropped = {};
  #hasDropped = false;
  #reportedAt = -Infinity;

  constructor(options: LineWriterOptions) {
    this.#options = options;
    this.#system = options.system ?? nodeSystem;
  }

  /** Writes a line at once, after those that wait. */
  write(line: string): void {
    this.#isGathering = false;
    if (this.#hold(line) && this.#state === 'idle') this.#next();
  }

  /** Writes a line together with others: when a batch is full, or after `GATHER_MS`. */
  writeSoon(line: string): void {
    if (!this.#hold(line) || this.#state !== 'idle') return;
    if (this.#batches.length === 1 && !this.#isGathering) {
      this.#isGathering = true;
      this.#system.after(GATHER_MS, this.#onGathered);
    }
    this.#next();
  }

  /**
   * An earlier timer may end this gathering before its time. A failed write has dropped the gathered lines: without a
   * line that was written since, there is no recovery to report.
   */
  readonly #onGathered = (): void => {
    this.#isGathering = false;
    if (this.#state === 'idle' && this.#batches.length > 0) this.#next();
  };

  /** Adds a line to the batches. Returns false if it need not be written, because it was dropped or the process ends. */
  #hold(line: string): boolean {
    if (this.#state === 'ended') {
      this.#writeNow(Buffer.from(line), 0);
      return false;
    }
    const bytes = Buffer.byteLength(line);
    if (this.#heldBytes + bytes > MAX_WAITING_BYTES) {
      this.#drop('stalled', 1);
      return false;
    }
    const last = this.#batches.length - 1;
    if (last < 0 || this.#lastBatchBytes + bytes > this.#options.batchBytes) {
      this.#batches.push(line);
      this.#lastBatchBytes = bytes;
    } else {
      this.#batches[last] += line;
      this.#lastBatchBytes += bytes;
    }
    this.#heldBytes += bytes;
    return true;
  }

  /**
   * Writes the waiting lines, in bounded time, before the process ends. Later lines are written at once or dropped.
   * Returns the number of lines that could not be written.
   */
  end(): number {
    if (this.#state === 'ended') return 0;
    // A write in a thread cannot be awaited here; it may or may not complete.
    const rest = this.#state === 'writing' ? '' : this.#rest;
    const left = Buffer.concat([Buffer.from(rest), Buffer.from(this.#batches.join(''))]);
    this.#state = 'ended';
    this.#batches = [];
    return this.#writeNow(left, END_LIMIT_MS);
  }

  /** Returns the number of lines that were not written. */
  #writeNow(data: Buffer, limitMs: number): number {
    const giveUpAt = this.#system.now() + limitMs;
    let left = data;
    while (left.length > 0) {
      try {
        left = left.subarray(this.#system.writeSync(this.#options.fd, left));
      } catch (error) {
        if (!isBusy(error as NodeJS.ErrnoException) || this.#system.now() >= giveUpAt) break;
        this.#system.pause(END_PAUSE_MS);
      }
    }
    return linesIn(left);
  }

  #next(): void {
    const isWaiting =
      this.#isGathering && this.#batches.length === 1 && this.#lastBatchBytes < this.#options.batchBytes;
    const batch = isWaiting ? undefined : this.#batches.shift();
    if (batch === undefined) {
      this.#state = 'idle';
      if (this.#hasDropped && !isWaiting) this.#report();
      return;
    }
    if (this.#batches.length === 0) this.#lastBatchBytes = 0;
    this.#rest = this.#lineIsCut ? `\n${batch}` : batch;
    if (this.#lineIsCut) this.#heldBytes += 1;
    this.#try();
  }

  #try(): void {
    this.#state = 'writing';
    this.#system.write(this.#options.fd, this.#rest, this.#written);
  }

  readonly #written: Written = (error, bytes) => {
    // The process is ending; `end` has written or dropped the rest.
    if (this.#state === 'ended') return;
    if (error) return this.#failed(error);
    this.#retryMs = 0;
    this.#heldBytes -= bytes;
    const rest = Buffer.isBuffer(this.#rest) ? this.#rest : undefined;
    const length = rest ? rest.length : Buffer.byteLength(this.#rest);
    if (bytes >= length) {
      this.#rest = '';
      this.#lineIsCut = false;
      return this.#next();
    }
    const whole = rest ?? Buffer.from(this.#rest);
    if (bytes > 0) this.#lineIsCut = whole[bytes - 1] !== NEWLINE;
    this.#rest = whole.subarray(bytes);
    this.#try();
  };

  #failed(error: NodeJS.ErrnoException): void {
    if (isBusy(error)) {
      this.#state = 'pausing';
      this.#retryMs = Math.min(Math.max(FIRST_RETRY_MS, this.#retryMs * 2), LONGEST_RETRY_MS);
      this.#system.after(this.#retryMs, () => {
        if (this.#state === 'pausing') this.#try();
      });
      return;
    }
    // A leading line feed only ends the truncated line and is no line itself.
    const rest = Buffer.from(this.#rest);
    const counted = this.#lineIsCut && rest[0] === NEWLINE ? rest.subarray(1) : rest;
    const lines = linesIn(counted) + this.#batches.reduce((sum, batch) => sum + linesIn(batch), 0);
    this.#rest = '';
    this.#batches = [];
    this.#lastBatchBytes = 0;
    this.#heldBytes = 0;
    this.#state = 'idle';
    this.#drop(reasonOf(error), lines);
  }

  #drop(reason: DropReason, lines: number): void {
    if (lines === 0) return;
    this.#hasDropped = true;
    this.#dropped[reason] = (this.#dropped[reason] ?? 0) + lines;
    this.#options.onDrop(reason, lines);
  }

  /** `onRecover` writes a line itself. If that fails, the next report counts it. */
  #report(): void {
    const now = this.#system.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = now;
    const dropped = this.#dropped;
    this.#dropped = {};
    this.#hasDropped = false;
    this.#options.onRecover(dropped);
  }
}

const nodeSystem: LineWriterSystem = {
  write: (fd, data, written) => (typeof data === 'string' ? write(fd, data, written) : write(fd, data, written)),
  writeSync: (fd, data) => writeSync(fd, data),
  after: (ms, task) => void setTimeout(task, ms).unref(),
  now: () => performance.now(),
  pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

const isBusy = ({ code }: NodeJS.ErrnoException): boolean => code === 'EAGAIN' || code === 'EBUSY' || code === 'EINTR';

/** A socket whose peer has closed gives ECONNRESET once, then EPIPE. */
const REASONS: Readonly<Record<string, DropReason>> = {
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  EFBIG: 'no_space',
  EPIPE: 'closed',
  ECONNRESET: 'closed',
};

const reasonOf = ({ code = '' }: NodeJS.ErrnoException): DropReason => REASONS[code] ?? 'error';

/** Every line ends with a line feed and has none inside. A line without its beginning counts, too. */
function linesIn(data: string | Buffer): number {
  let lines = 0;
  for (let at = data.indexOf('\n'); at !== -1; at = data.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
