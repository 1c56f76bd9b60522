import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { moduleFile } from '../../../core/kernel/package-root.ts';
import type { RecordQuery, RecordSource } from '../../../core/record/record-query.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { KeptLimits, KeptPage, KeptRow } from './record-file.ts';
import type { RecordAnswer, RecordCall } from './thread.ts';

const THREAD = moduleFile('src/addons/console/records/thread');
/** Records that wait for the disk; what comes then is dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** A disk that hangs must not hold its readers. */
const LIMIT_MS = 10_000;
type Question = RecordCall extends infer Call ? (Call extends RecordCall ? Omit<Call, 'id'> : never) : never;

interface KeptSetup {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error'>;
  readonly onDrop: (reason: 'no_space' | 'stalled' | 'error', records: number) => void;
}

/** Records on disk, through their thread. No request waits for it: what it cannot take is dropped and counted. */
export class KeptRecords {
  readonly #setup: KeptSetup;
  readonly #thread: Worker;
  readonly #open = new Map<number, (answer: RecordAnswer) => void>();
  #last = 0;
  #waiting = 0;
  #failed = false;
  #ended = false;

  constructor(limits: KeptLimits, setup: KeptSetup) {
    this.#setup = setup;
    this.#thread = new Worker(THREAD, { workerData: limits, execArgv: [], name: 'gatehouse-records' });
    this.#thread.unref();
    this.#thread.on('message', (answer: RecordAnswer) => {
      this.#open.get(answer.id)?.(answer);
      this.#open.delete(answer.id);
    });
    this.#thread.on('error', (err) => setup.log.error({ err }, 'the thread of the records on disk failed'));
    this.#thread.on('exit', () => this.#end());
  }

  add(rows: readonly KeptRow[]): void {
    const bytes = rows.reduce((sum, [, , json]) => sum + json.length, 0);
    if (this.#ended) return this.#setup.onDrop('error', rows.length);
    if (this.#waiting + bytes > MAX_WAITING_BYTES) return this.#setup.onDrop('stalled', rows.length);
    this.#waiting += bytes;
    void this.#ask({ name: 'add', rows, now: this.#setup.clock.wall() }).then(({ failed }) => {
      this.#waiting -= bytes;
      if (failed) this.#drop(failed, rows.length);
      else this.#failed = false;
    });
  }

  /** Logged once, until records can be written again. */
  #drop({ message, full }: NonNullable<RecordAnswer['failed']>, records: number): void {
    this.#setup.onDrop(full ? 'no_space' : 'error', records);
    if (!this.#failed)
      this.#setup.log.error(
        { reason: message },
        'records cannot be written to the folder of the state store; requests are still served',
      );
    this.#failed = true;
  }

  /** The list of requests: those that run from memory, those that have ended from the disk. */
  async page(query: RecordQuery, memory: RecordSource): ReturnType<RecordSource['page']> {
    const running =
      query.state === undefined || query.state === 'running'
        ? await memory.page({ ...query, state: 'running' })
        : undefined;
    const lines = [...(running?.lines ?? [])];
    const { marks, partial = [], oldest } = running ?? (await memory.page({ ...query, limit: 1 }));
    if (query.state === 'running' || running?.more || lines.length >= query.limit)
      return { lines, more: running?.more === true || query.state !== 'running', oldest, marks, partial };
    const { failed, value } = await this.#ask({ name: 'page', query: { ...query, limit: query.limit - lines.length } });
    if (failed) return memory.page(query);
    const kept = value as KeptPage;
    return {
      lines: [...lines, ...kept.lines],
      more: kept.more,
      oldest: kept.oldest ?? oldest,
      marks,
      partial,
      ...(kept.last !== undefined && { last: { running: false, at: kept.last } }),
    };
  }

  async find(id: string): Promise<object | undefined> {
    const { value } = await this.#ask({ name: 'find', request: id });
    return typeof value === 'string' ? (JSON.parse(value) as object) : undefined;
  }

  async close(): Promise<void> {
    await this.#ask({ name: 'close' });
  }

  #ask(question: Question): Promise<RecordAnswer> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      const late = this.#setup.clock.after(LIMIT_MS, () =>
        answered({ id, failed: { message: 'the disk is too slow', full: false } }),
      );
      const answered = (answer: RecordAnswer): void => {
        late();
        this.#open.delete(id);
        resolve(answer);
      };
      this.#open.set(id, answered);
      if (this.#ended) answered({ id, failed: { message: 'the thread has ended', full: false } });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
      else this.#thread.postMessage({ id, ...question });
    });
  }

  #end(): void {
    this.#ended = true;
    for (const [id, answered] of this.#open) answered({ id, failed: { message: 'the thread has ended', full: false } });
  }
}
