import type { Clock } from '../../../../plugin/index.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { EngineOptions } from './engine.ts';
import type { ReadCalls } from './read-calls.ts';
import { StoreThread, type CallArguments, type Later } from './store-thread.ts';

/**
 * A second thread, for reads that take long: leases, reports and writes of the first one do not wait for them. It begins with the first
 * read, because most gateways never read any.
 */
export class ReadingThread {
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  #thread: Promise<StoreThread> | undefined;
  #isClosed = false;

  /** @param options of the first thread, which is open */
  constructor(options: EngineOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  async call<Call extends keyof ReadCalls>(name: Call, ...args: CallArguments<Call>): Later<Call> {
    if (this.#isClosed) throw new StateFailure('unavailable', 'the store is closed');
    this.#thread ??= this.#open();
    return (await this.#thread).call(name, ...args);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = await this.#thread?.catch(() => undefined);
    await thread?.close();
  }

  /** The next read tries again after a failure. */
  #open(): Promise<StoreThread> {
    const opening = StoreThread.open({ ...this.#options, onlyReads: true }, this.#clock);
    opening.catch(() => (this.#thread = undefined));
    return opening;
  }
}
