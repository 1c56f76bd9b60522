import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../plugin/index.ts';
import type { BoundedRecord } from '../bounded-record.ts';
import { recordText } from '../json.ts';
import { removeOldFiles, RECORD_FILE } from './retention.ts';

/** `telemetry.records` of server.yaml. */
export interface RecordFilesSettings {
  readonly dir: string;
  readonly maxFileBytes: number;
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

/** Why a record is in no file. Labels of a metric: the list is closed. */
export const RECORD_DROP_REASONS = ['no_space', 'stalled', 'error'] as const;
type RecordDropReason = (typeof RECORD_DROP_REASONS)[number];

type LinesFile = Pick<JsonLinesFile, 'bytes' | 'append' | 'close'>;

export interface RecordFilesOptions {
  readonly clock: Clock;
  /** Distinguishes processes that write to one folder. */
  readonly process: string;
  readonly onDrop: (reason: RecordDropReason, lines: number) => void;
  /** Called at the first of several failures in a row. */
  readonly onFailure: (error: Error) => void;
  readonly openFile?: (dir: string, name: string) => Promise<LinesFile>;
}

/** Records wait this long for others: a write wakes a thread, which takes 20 µs of processor time (measured). */
const GATHER_MS = 100;
/** Maximum bytes of waiting records; further ones are dropped until the disk has taken some. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** After a failure records are dropped for this long, instead of one failing system call for each. */
const PAUSE_MS = 1000;
/** A file is closed after this part of `max_age`, at most after a day, because only whole files are removed. */
const AGES_PER_FILE = 4;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Records as JSON lines in files of bounded size. A bad disk costs records, which are counted, never a request. */
export class RecordFiles {
  readonly #options: RecordFilesOptions;
  #settings: RecordFilesSettings | undefined;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #file: LinesFile | undefined;
  #openedAt = 0;
  #number = 0;
  #pausedUntil = -Infinity;
  #reason: RecordDropReason = 'error';
  #hasFailed = false;
  #isTimed = false;
  /** The current write, and everything that must follow it. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: RecordFilesOptions) {
    this.#options = options;
  }

  /** @param settings undefined: no record is written */
  apply(settings: RecordFilesSettings | undefined): void {
    const before = this.#settings;
    if (isDeepStrictEqual(before, settings)) return;
    this.#settings = settings;
    // Waiting records belong into the files of before.
    const lines = this.#take();
    void this.#enqueue(async () => {
      await this.#write(lines, before);
      await this.#close();
    });
  }

  write(record: BoundedRecord): void {
    if (!this.#settings) return;
    if (this.#options.clock.now() < this.#pausedUntil) return this.#options.onDrop(this.#reason, 1);
    const line = `${recordText(record)}\n`;
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) return this.#options.onDrop('stalled', 1);
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#options.clock.after(GATHER_MS, () => {
      this.#isTimed = false;
      void this.flush();
    });
  }

  /** Writes what waits. Never rejects. */
  flush(): Promise<void> {
    return this.#enqueue(() => this.#write(this.#take(), this.#settings));
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#enqueue(() => this.#close());
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(task);
    return this.#work;
  }

  #take(): readonly string[] {
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    return lines;
  }

  async #write(lines: readonly string[], settings: RecordFilesSettings | undefined): Promise<void> {
    if (lines.length === 0 || !settings) return;
    try {
      const data = Buffer.from(lines.join(''));
      const file = await this.#fileFor(data.length, settings);
      await file.append(data);
      this.#hasFailed = false;
    } catch (error) {
      await this.#fail(error as NodeJS.ErrnoException, lines.length);
    }
  }

  async #fail(error: NodeJS.ErrnoException, lines: number): Promise<void> {
    this.#reason = reasonOf(error);
    this.#options.onDrop(this.#reason, lines);
    this.#pausedUntil = this.#options.clock.now() + PAUSE_MS;
    if (!this.#hasFailed) this.#options.onFailure(error);
    this.#hasFailed = true;
    await this.#close();
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // The lines are written; a failure to close loses none.
    await file?.close().catch(() => {});
  }

  /** The file for the next bytes: the current one, or a new one when it is full or old. */
  async #fileFor(bytes: number, settings: RecordFilesSettings) {
    const { clock, process, openFile = JsonLinesFile.open } = this.#options;
    const { dir, maxFileBytes, maxAgeMs } = settings;
    const age = clock.now() - this.#openedAt;
    const isFull = this.#file !== undefined && this.#file.bytes > 0 && this.#file.bytes + bytes > maxFileBytes;
    if (this.#file && !isFull && age < Math.min(DAY_MS, maxAgeMs / AGES_PER_FILE)) return this.#file;
    await this.#close();
    this.#number += 1;
    const name = RECORD_FILE.named(clock.wall(), process, this.#number);
    const file = await openFile(dir, name);
    this.#file = file;
    this.#openedAt = clock.now();
    await removeOldFiles(settings, { now: clock.wall(), keep: name, free: maxFileBytes });
    return file;
  }
}

const reasonOf = ({ code = '' }: NodeJS.ErrnoException): RecordDropReason =>
  code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG' ? 'no_space' : 'error';

class JsonLinesFile {
  readonly #handle: FileHandle;
  #bytes = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Creates the folder, and a file that did not exist. Records name keys and callers: only the gateway's user reads them. */
  static async open(dir: string, name: string): Promise<JsonLinesFile> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return new JsonLinesFile(await open(join(dir, name), 'wx', 0o600));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends whole lines. If that fails, the file ends with the lines before. */
  async append(lines: Buffer): Promise<void> {
    try {
      await this.#handle.appendFile(lines);
    } catch (error) {
      // A full disk may have taken a part of a line.
      await this.#handle.truncate(this.#bytes).catch(() => {});
      throw error;
    }
    this.#bytes += lines.length;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
