import type { Clock } from '../plugin/index.ts';
import type { Pipelines } from '../compose/listener/pipelines.ts';

/**
 * The steps at the end of a drain's delay, in order. `hold`: new requests wait. `serve`: the port is closed, and
 * waiting requests are served. `stop`: the worker has received all its connections.
 */
export type DrainStep = 'hold' | 'serve' | 'stop';

/**
 * Lets a worker follow the primary through the end of a drain's delay. Only the primary accepts connections, so only it
 * knows the last one.
 */
export class DrainSteps {
  readonly #pipelines: Pick<Pipelines, 'hold' | 'release'>;
  readonly #clock: Clock;
  #stop: (() => void) | undefined;

  constructor(pipelines: Pick<Pipelines, 'hold' | 'release'>, clock: Clock) {
    this.#pipelines = pipelines;
    this.#clock = clock;
  }

  /** Resolves at the last step or at the limit. */
  async follow(limitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stop = resolve;
    const giveUp = this.#clock.after(limitMs, resolve);
    await promise;
    giveUp();
    this.#stop = undefined;
  }

  /** Takes a step. Ignored unless `follow` is waiting. */
  take(step: DrainStep): void {
    if (!this.#stop) return;
    if (step === 'hold') this.#pipelines.hold();
    else this.#pipelines.release();
    if (step === 'stop') this.#stop();
  }
}
