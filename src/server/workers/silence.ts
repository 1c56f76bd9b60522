/** A worker whose event loop stands still for so long serves nobody, and will not by itself. */
export const SILENCE_LIMIT_MS = 30_000;
/** How often the primary looks. */
export const TICK_MS = 1_000;
/** One that has nothing to tell is asked. */
const ASK_AFTER_MS = 5_000;

/**
 * For how long a worker has said nothing, counted in ticks of the primary and not by a clock: a primary that stood still itself
 * (a container that was paused) has heard nothing either, and must not end workers that live.
 */
export class Silence {
  readonly #limitMs: number;
  #silentMs = 0;

  constructor(limitMs = SILENCE_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  heard(): void {
    this.#silentMs = 0;
  }

  /** What is to be done about it. */
  tick(): 'nothing' | 'ask' | 'end' {
    this.#silentMs += TICK_MS;
    if (this.#silentMs >= this.#limitMs) return 'end';
    return this.#silentMs >= Math.min(ASK_AFTER_MS, this.#limitMs / 2) ? 'ask' : 'nothing';
  }
}
