import { write, writeSync } from 'node:fs';

/** Why a line was not written. Labels of a metric: the list is closed. */
export const DROP_REASONS = ['no_space', 'stalled', 'closed', 'error'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export type Dropped = Partial<Record<DropReason, number>>;

type OnWritten = (error: NodeJS.ErrnoException | null, bytes: number) => void;

/** The system calls, and the time. Injected by tests. */
export interface LineWriterSystem {
  write(fd: number, data: Buffer, written: OnWritten): void;
  writeSync(fd: number, data: Buffer): number;
  /** Runs `task` after `ms`; does not keep the process alive. */
  after(ms: number, task: () => void): void;
  now(): number;
  /** Blocks the whole process for `ms`. */
  pause(ms: number): void;
}

interface LineWriterOptions {
  readonly fd: number;
  /** Maximum size of a batch of lines written together. */
  readonly batchBytes: number;
  readonly onDrop: (reason: DropReason, lines: number) => void;
  /** Called when all waiting lines have been written after lines were dropped; at most once a second. */
  readonly onRecover: (dropped: Dropped) => void;
  readonly system?: LineWriterSystem;
}

/** Some 1,700 access lines, and as much as Docker's own non-blocking log driver keeps for a slow reader. */
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
const EMPTY = Buffer.alloc(0);
/** UTF-8 has at most this many bytes for one unit of a string's length. */
const MOST_BYTES = 3;

interface Batch {
  readonly buffer: Buffer;
  bytes: number;
}

/**
 * Writes lines to a file descriptor without ever blocking the process. A failed write (a full disk, a closed pipe)
 * drops its lines. A stalled reader makes lines wait, up to a limit, and further lines are dropped. Every dropped line
 * is counted. The next line is tried again, so that logging resumes once the cause is gone. Node's thread pool runs one
 * write at a time; lines that arrive meanwhile are batched. A write wakes a thread, which takes 20 µs of processor time
 * (measured), so the lines of requests are gathered before one begins. The descriptor of a pipe or a socket must be
 * non-blocking, as Node makes it when `process.stdout` is first used: a thread that blocks in a write keeps the process
 * from ending.
 *
 * sonic-boom, pino's own writer, does not keep these promises. It waits 100 ms whenever a pipe is full: at 3,000 lines of 600 bytes a
 * second, for a reader of 4 MB/s, it dropped 16,015 of 30,000 lines with `maxLength` at 1 MiB, and this writer none (measured). It keeps
 * the lines that a full disk refuses and counts none until 1 MiB waits, has no reason for a drop, and no bound and no count at the end.
 */
export class LineWriter {
  readonly #options: LineWriterOptions;
  readonly #system: LineWriterSystem;
  /** Waiting batches, each at most `batchBytes` or one longer line. */
  #batches: Batch[] = [];
  /** The memory of a batch that was written, for the next one. */
  #spare: Buffer | undefined;
  #written: Buffer = EMPTY;
  /** The last batch may wait for more lines. */
  #isGathering = false;
  /** Bytes of the waiting batches and of the current write. */
  #heldBytes = 0;
  #rest: Buffer = EMPTY;
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
    const [only] = this.#batches;
    if (this.#batches.length === 1 && !this.#isGathering) {
      this.#isGathering = true;
      this.#system.after(GATHER_MS, this.#onGathered);
    }
    if (this.#batches.length > 1 || only!.bytes >= this.#options.batchBytes) this.#next();
  }

  /** An earlier timer may end this gathering before its time, or a failed write has dropped its lines. */
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
    const { batchBytes } = this.#options;
    const last = this.#batches.at(-1);
    const most = line.length * MOST_BYTES;
    // Nearly every line has room however it is encoded, so its bytes are counted as they are written.
    if (last && last.bytes + most <= batchBytes && this.#heldBytes + most <= MAX_WAITING_BYTES) {
      this.#add(line, last);
      return true;
    }
    const bytes = Buffer.byteLength(line);
    if (this.#heldBytes + bytes > MAX_WAITING_BYTES) {
      this.#drop('stalled', 1);
      return false;
    }
    this.#add(line, last && last.bytes + bytes <= batchBytes ? last : this.#openBatch(bytes));
    return true;
  }

  #add(line: string, batch: Batch): void {
    const { buffer, bytes } = batch;
    const written = buffer.write(line, bytes);
    batch.bytes += written;
    this.#heldBytes += written;
  }

  #openBatch(leastBytes: number): Batch {
    const { batchBytes } = this.#options;
    const isLong = leastBytes > batchBytes;
    const buffer = (isLong ? undefined : this.#spare) ?? Buffer.allocUnsafeSlow(Math.max(leastBytes, batchBytes));
    if (!isLong) this.#spare = undefined;
    const batch = { buffer, bytes: 0 };
    this.#batches.push(batch);
    return batch;
  }

  /** Writes the waiting lines in bounded time, at the end of the process. Returns the number of lost ones. */
  end(): number {
    if (this.#state === 'ended') return 0;
    // A write in a thread cannot be awaited here; it may or may not complete.
    const rest = this.#state === 'writing' ? EMPTY : this.#rest;
    const left = Buffer.concat([rest, ...this.#batches.map(linesOf)]);
    this.#state = 'ended';
    this.#batches = [];
    return this.#writeNow(left, END_LIMIT_MS);
  }

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
      this.#isGathering && this.#batches.length === 1 && this.#batches[0]!.bytes < this.#options.batchBytes;
    const batch = isWaiting ? undefined : this.#batches.shift();
    if (batch === undefined) {
      this.#state = 'idle';
      if (this.#hasDropped && !isWaiting) this.#report();
      return;
    }
    this.#written = batch.buffer;
    this.#rest = this.#lineIsCut ? Buffer.concat([LINE_FEED, linesOf(batch)]) : linesOf(batch);
    if (this.#lineIsCut) this.#heldBytes += 1;
    this.#try();
  }

  #try(): void {
    this.#state = 'writing';
    this.#system.write(this.#options.fd, this.#rest, this.#onWritten);
  }

  readonly #onWritten: OnWritten = (error, bytes) => {
    // The process is ending; `end` has written or dropped the rest.
    if (this.#state === 'ended') return;
    if (error) return this.#failed(error);
    this.#retryMs = 0;
    this.#heldBytes -= bytes;
    const rest = this.#rest;
    if (bytes >= rest.length) {
      this.#endBatch();
      this.#lineIsCut = false;
      return this.#next();
    }
    if (bytes > 0) this.#lineIsCut = rest[bytes - 1] !== NEWLINE;
    this.#rest = rest.subarray(bytes);
    this.#try();
  };

  #endBatch(): void {
    if (this.#written.length === this.#options.batchBytes) this.#spare = this.#written;
    this.#written = this.#rest = EMPTY;
  }

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
    const rest = this.#rest;
    const counted = this.#lineIsCut && rest[0] === NEWLINE ? rest.subarray(1) : rest;
    const lines = linesIn(counted) + this.#batches.reduce((sum, batch) => sum + linesIn(linesOf(batch)), 0);
    this.#endBatch();
    this.#batches = [];
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

const LINE_FEED = Buffer.from('\n');

const linesOf = ({ buffer, bytes }: Batch): Buffer => buffer.subarray(0, bytes);

const nodeSystem: LineWriterSystem = {
  write,
  writeSync,
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
function linesIn(data: Buffer): number {
  let lines = 0;
  for (let at = data.indexOf('\n'); at !== -1; at = data.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
