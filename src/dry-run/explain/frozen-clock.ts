import type { Cancellation, Clock } from '../../plugin/index.ts';

/** A clock that stands still: a dry run happens at one point in time. */
export class FrozenClock implements Clock {
  readonly #real: Clock;
  #moment = { now: 0, wall: 0 };
  #frozen = false;

  constructor(real: Clock) {
    this.#real = real;
  }

  freeze(): void {
    this.#frozen = true;
  }

  /** Lets time pass for plugins that are started and closed. */
  thaw(): void {
    this.#frozen = false;
  }

  stand(moment: { readonly now: number; readonly wall: number }): void {
    this.#moment = moment;
  }

  now(): number {
    return this.#moment.now;
  }

  wall(): number {
    return this.#moment.wall;
  }

  /** Real time, for the limit on plugins that start too slowly. */
  after(ms: number, task: () => void): () => void {
    return this.#real.after(ms, task);
  }

  /**
   * A dry run does not wait. A sleep that serves as a limit must still end after the awaited work, hence
   * `setImmediate`.
   */
  sleep(ms: number, cancellation?: Cancellation): Promise<void> {
    return this.#frozen ? new Promise((resolve) => void setImmediate(resolve)) : this.#real.sleep(ms, cancellation);
  }
}
