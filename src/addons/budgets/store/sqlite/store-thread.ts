import { Worker } from 'node:worker_threads';
import { moduleFile } from '../../../../core/kernel/package-root.ts';
import type { Clock } from '../../../../plugin/index.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { EngineCalls, EngineOptions } from './engine.ts';
import type { StoreAnswer, StoreCall } from './thread.ts';

const THREAD = moduleFile('src/addons/budgets/store/sqlite/thread');
/** Limit of the end of a thread that does not answer: a system call that hangs holds it up. */
const END_MS = 2_000;
/** Limit of a start with its migrations: a busy machine takes more than ten seconds to load the code of the thread (seen). */
const OPEN_LIMIT_MS = 30_000;
/** Limit of an answer: a disk that hangs must not hold its callers. */
const LIMIT_MS = 10_000;
/** The same for calls that read or copy the whole store. */
const LONG_LIMIT_MS = 15 * 60_000;
const LONG: ReadonlySet<string> = new Set<keyof EngineCalls>([
  'backup',
  'dropBefore',
  'foldOldest',
  'dropAudit',
  'rollups',
  'rowsAfter',
  'auditRows',
  'verifyAudit',
]);
/** A thread that does not answer must not fill the memory with questions. */
const MAX_WAITING = 1_000;

export type Later<Calls extends keyof EngineCalls> = Promise<Awaited<ReturnType<EngineCalls[Calls]>>>;
export type CallArguments<Call extends keyof EngineCalls> =
  Parameters<EngineCalls[Call]> extends [number, ...infer Rest] ? Rest : [];

interface OpenCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Calls the store in its thread. A thread that ended is not replaced: each call is then `unavailable`. */
export class StoreThread {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, OpenCall>();
  readonly #ended = Promise.withResolvers<void>();
  #last = 0;
  #closed: StateFailure | undefined;
  #closing: Promise<void> | undefined;

  private constructor(worker: Worker, clock: Clock) {
    this.#worker = worker;
    this.#clock = clock;
    worker.on('message', (answered: StoreAnswer) => this.#receive(answered));
    worker.on('error', (error) =>
      this.#end(new StateFailure('unavailable', `the store's thread failed: ${error.message}`, { cause: error })),
    );
    worker.on('exit', () => {
      this.#end(new StateFailure('unavailable', 'the store is closed'));
      this.#ended.resolve();
    });
  }

  /** Rejects with the failure of the opening. */
  static async open(options: EngineOptions, clock: Clock): Promise<StoreThread> {
    // Flags of this process, such as those of a test runner, are not for the thread.
    const worker = new Worker(THREAD, { workerData: options, execArgv: [], name: 'gatehouse-store' });
    const thread = new StoreThread(worker, clock);
    try {
      await thread.#answerOf(0, OPEN_LIMIT_MS, 'open');
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    // An idle store keeps no process alive; a call under way does.
    worker.unref();
    return thread;
  }

  call<Call extends keyof EngineCalls>(name: Call, ...args: CallArguments<Call>): Later<Call> {
    return this.#send(name, [this.#clock.wall(), ...args]) as Later<Call>;
  }

  get hasEnded(): boolean {
    return this.#closed !== undefined;
  }

  /** Resolves when the thread has ended, or does not end. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    const closing = this.#send('close', []);
    this.#closed = new StateFailure('unavailable', 'the store is closed');
    // Confirmed calls are committed: ending a thread that hangs loses none of them.
    await closing.catch(() => void this.#worker.terminate());
    // The last answer took the reference to the worker away. Without one, a process with nothing else to do would exit before the
    // caller continues.
    this.#worker.ref();
    const stopTimer = this.#clock.after(END_MS, () => this.#ended.resolve());
    await this.#ended.promise;
    stopTimer();
    this.#worker.unref();
  }

  #send(name: StoreCall['name'], args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    if (this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new StateFailure('unavailable', `${MAX_WAITING} calls wait for the store`));
    const id = (this.#last += 1);
    const answered = this.#answerOf(id, LONG.has(name) ? LONG_LIMIT_MS : LIMIT_MS, name);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    this.#worker.postMessage({ id, name, args } satisfies StoreCall);
    return answered;
  }

  #answerOf(id: number, limit: number, name: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#worker.ref();
      const settle = (): void => {
        this.#waiting.delete(id);
        giveUp();
        if (this.#waiting.size === 0) this.#worker.unref();
      };
      const waiting: OpenCall = {
        resolve: (value) => (settle(), resolve(value)),
        reject: (error) => (settle(), reject(error)),
      };
      const giveUp = this.#clock.after(limit, () =>
        waiting.reject(new StateFailure('unavailable', `no answer of the store to "${name}" within ${limit} ms`)),
      );
      this.#waiting.set(id, waiting);
    });
  }

  /** An answer after the time limit is dropped. */
  #receive({ id, value, failed }: StoreAnswer): void {
    const waiting = this.#waiting.get(id);
    if (!failed) waiting?.resolve(value);
    else waiting?.reject(failed.code ? new StateFailure(failed.code, failed.message) : new Error(failed.message));
  }

  #end(reason: StateFailure): void {
    this.#closed ??= reason;
    for (const waiting of this.#waiting.values()) waiting.reject(reason);
  }
}
