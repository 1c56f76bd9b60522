import { closeSync, mkdirSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LineBytes } from './line-bytes.ts';
import { LOCK_FILE, lockSpool } from './spool-lock.ts';
import { COMPLETE_LINE, processLine } from './spool-lines.ts';
import type { Boot } from '../../../../core/ports/counters.ts';

export const SPOOLS = 'spool';

const MAX_BYTES = 1024 ** 3;
/** A new segment begins after so many bytes. The old one is removed as soon as the store has its rows. */
const SEGMENT_BYTES = 8 * 1024 ** 2;

export interface SpoolSegment {
  readonly path: string;
  bytes: number;
  waiting: number;
  /** Rows of it that wait for the store and are nowhere else. */
  spilled: number;
}

interface SpoolOptions {
  readonly folder: string;
  readonly boot: Boot;
  readonly pid: number;
  readonly checkpoint: (to: LineBytes) => void;
  readonly maxBytes?: number | undefined;
  readonly segmentBytes?: number | undefined;
}

/** A spool's folder: the id of a process may be given again, that of its boot is not. */
export const spoolName = (pid: number, boot: Boot['id']): string => `${pid}-${boot}`;

/** Requests that the store does not have yet, in files. Each write is one system call: it survives `kill -9`, not a power failure. */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #folder: string;
  readonly #segments: SpoolSegment[] = [];
  #file: number | undefined;
  #unlock: (() => void) | undefined;
  #number = 0;
  #bytes = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#folder = join(options.folder, SPOOLS, spoolName(options.pid, options.boot.id));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False: the next write needs a new segment. Before the first, and after a failure, because half a line may be in the old one. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** The segment has reached its length: the next write begins another one. */
  get isLong(): boolean {
    return (this.#segments.at(-1)?.bytes ?? 0) >= (this.#options.segmentBytes ?? SEGMENT_BYTES);
  }

  /** Returns the segment that has the lines. Throws if the disk is full or the spool has reached its size. */
  write(lines: LineBytes): SpoolSegment {
    const { maxBytes = MAX_BYTES } = this.#options;
    const segment = this.#segments.at(-1)!;
    if (this.bytes + lines.length > maxBytes) {
      this.#closeFile();
      throw new SpoolFull(`the spool has reached ${maxBytes} bytes`);
    }
    this.#append(segment, lines);
    return segment;
  }

  begin(): SpoolSegment {
    const { boot, pid, checkpoint, maxBytes = MAX_BYTES } = this.#options;
    if (this.bytes >= maxBytes) throw new SpoolFull(`the spool has reached ${maxBytes} bytes`);
    this.#closeFile();
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#unlock ??= lockSpool(this.#folder);
    this.#number += 1;
    const path = join(this.#folder, `${String(this.#number).padStart(9, '0')}.jsonl`);
    this.#file = openSync(path, 'ax', 0o600);
    const segment: SpoolSegment = { path, bytes: 0, waiting: 0, spilled: 0 };
    try {
      const lines = new LineBytes();
      lines.text(processLine(boot, pid));
      checkpoint(lines);
      lines.text(COMPLETE_LINE);
      this.#append(segment, lines);
    } catch (error) {
      // A segment without its `complete` line does not count; those before it still do.
      this.#remove(segment);
      throw error;
    }
    this.#segments.push(segment);
    this.tidy();
    return segment;
  }

  /** Removes the segments before the last one of which the store has all rows. */
  tidy(): void {
    for (const segment of this.#segments.slice(0, -1)) {
      if (segment.waiting > 0 || segment.spilled > 0) continue;
      this.#remove(segment);
      this.#segments.splice(this.#segments.indexOf(segment), 1);
    }
  }

  get spilled(): readonly SpoolSegment[] {
    return this.#segments.filter(({ spilled }) => spilled > 0);
  }

  get last(): SpoolSegment | undefined {
    return this.#segments.at(-1);
  }

  /** Ends the spool. @param isDone the store has everything: nothing remains for the next owner of the folder */
  close(isDone: boolean): void {
    this.#closeFile();
    try {
      if (!isDone) return;
      for (const segment of this.#segments.splice(0)) this.#remove(segment);
      // A lock that is held may have a second file.
      this.#release();
      rmSync(join(this.#folder, LOCK_FILE), { force: true });
      rmdirSync(this.#folder);
    } catch {
      // It was never made, or the next owner has removed it. A file that stays is read again, and the store ignores rows that it has.
    } finally {
      this.#release();
    }
  }

  #release(): void {
    this.#unlock?.();
    this.#unlock = undefined;
  }

  #remove({ path, bytes }: SpoolSegment): void {
    rmSync(path, { force: true });
    this.#bytes -= bytes;
  }

  #append(segment: SpoolSegment, { bytes, length }: LineBytes): void {
    try {
      for (let from = 0; from < length;) {
        const written = writeSync(this.#file!, bytes, from, length - from);
        segment.bytes += written;
        this.#bytes += written;
        from += written;
      }
    } catch (error) {
      this.#closeFile();
      throw error;
    }
  }

  #closeFile(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }
}

class SpoolFull extends Error {
  override readonly name = 'SpoolFull';
}
