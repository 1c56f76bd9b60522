import type { Clock } from '../plugin/index.ts';
import type { Pipelines } from '../compose/listener/pipelines.ts';

/**
 * The end of a drain's delay, in the order of the primary: new requests wait; the port is closed and they are served; the worker has
 * all of its connections.
 */
export type DrainStep = 'hold' | 'serve' | 'stop';

/** A worker follows the primary through the end of a drain's delay: the primary accepts connections, so it alone knows the last one. */
export class DrainSteps {
  readonly #pipelines: Pick<Pipelines, 'hold' | 'release'>;
  readonly #clock: Clock;
  #stop: (() => void) | undefined;

  constructor(pipelines: Pick<Pipelines, 'hold' | 'release'>, clock: Clock) {
    this.#pipelines = pipelines;
    this.#clock = clock;
  }

  /** Resolves at the last step, or when the limit is over. */
  async follow(limitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stop = resolve;
    const giveUp = this.#clock.after(limitMs, resolve);
    await promise;
    giveUp();
    this.#stop = undefined;
  }

  /** A worker that drains by itself, or has given the primary up, follows no step. */
  take(step: DrainStep): void {
    if (!this.#stop) return;
    if (step === 'hold') this.#pipelines.hold();
    else this.#pipelines.release();
    if (step === 'stop') this.#stop();
  }
}
