import { StateFailure } from '../../../../core/ports/failures.ts';
import type { EngineCalls } from './engine.ts';
import type { CallArguments, Later, StoreThread } from './store-thread.ts';

interface HealingSetup {
  readonly open: () => Promise<StoreThread>;
  /** Whether a call opens a thread where there is none, and replaces one that has failed it. */
  readonly heals: (call: keyof EngineCalls) => boolean;
}

/** A thread of a store that another one replaces when the store has failed a call, or the thread has ended. */
export class HealingThread {
  readonly #setup: HealingSetup;
  #opened: Promise<StoreThread> | undefined;
  /** The end of the thread before, which has the lock of the folder. */
  #ended: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  /** @param opened the first thread; undefined: a call opens it */
  constructor(setup: HealingSetup, opened?: StoreThread) {
    this.#setup = setup;
    this.#opened = opened && Promise.resolve(opened);
  }

  async call<Call extends keyof EngineCalls>(name: Call, ...args: CallArguments<Call>): Later<Call> {
    if (this.#closing) throw new StateFailure('unavailable', 'the store is closed');
    const opened = this.#threadFor(name);
    const thread = await opened;
    try {
      return await thread.call(name, ...args);
    } catch (error) {
      if (thread.hasEnded || (this.#setup.heals(name) && isFault(error))) this.#replace(opened);
      throw error;
    }
  }

  /** The next call opens another thread. */
  renew(): void {
    if (this.#opened) this.#replace(this.#opened);
  }

  /** Bounded by the end of the thread. */
  close(): Promise<void> {
    return (this.#closing ??= (async () => {
      if (this.#opened) this.#end(this.#opened);
      await this.#ended;
    })());
  }

  /** Callers that come while a thread is opened share it. After a failure the next call tries again. */
  #threadFor(name: keyof EngineCalls): Promise<StoreThread> {
    if (this.#opened) return this.#opened;
    if (!this.#setup.heals(name)) return Promise.reject(new StateFailure('unavailable', 'the store does not answer'));
    const opening = this.#ended.then(this.#setup.open);
    opening.catch(() => {
      if (this.#opened === opening) this.#opened = undefined;
    });
    this.#opened = opening;
    return opening;
  }

  #replace(failed: Promise<StoreThread>): void {
    if (this.#opened !== failed) return;
    this.#opened = undefined;
    this.#end(failed);
  }

  #end(opened: Promise<StoreThread>): void {
    this.#ended = opened.then(
      (thread) => thread.close(),
      () => {},
    );
  }
}

/** Other failures are answers of a sound store. */
const isFault = (error: unknown): boolean =>
  !(error instanceof StateFailure) || ['unavailable', 'read_only', 'damaged'].includes(error.code);
