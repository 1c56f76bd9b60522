import type { Cancellation, Clock } from '../../plugin/index.ts';

/** Time that does not pass: whatever is explained happens at one moment. */
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

  /** Plugins that are started and closed have their time. */
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

  /** For plugins that take too long to start. */
  after(ms: number, task: () => void): () => void {
    return this.#real.after(ms, task);
  }

  /** Nobody waits while a request is run; a limit for what is only to be awaited must not be the first to end, though. */
  sleep(ms: number, cancellation?: Cancellation): Promise<void> {
    return this.#frozen ? new Promise((resolve) => void setImmediate(resolve)) : this.#real.sleep(ms, cancellation);
  }
}
