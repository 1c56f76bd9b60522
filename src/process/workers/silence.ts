/** The primary kills a worker whose event loop has not run for this long: it serves no request and does not recover by itself. */
export const SILENCE_LIMIT_MS = 10_000;
/** A worker that has sent no message for SUSPECT_AFTER_MS gets no new connections while others answer. */
const SUSPECT_AFTER_MS = 2_000;
/** How often the primary looks. */
export const TICK_MS = 500;
/** A worker reports its metrics about once a second. The primary asks a worker that has not. */
const ASK_AFTER_MS = 1_000;

/**
 * For how long a worker has said nothing, counted in ticks of the primary and not by a clock: a primary that stood still itself
 * (a container that was paused) has heard nothing either, and must not end workers that live.
 */
export class Silence {
  #limitMs: number;
  #silentMs = 0;

  constructor(limitMs = SILENCE_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  get ms(): number {
    return this.#silentMs;
  }

  get isSuspect(): boolean {
    return this.#silentMs >= SUSPECT_AFTER_MS;
  }

  heard(): void {
    this.#silentMs = 0;
  }

  /** Its drain is over: a worker that says nothing has no more time than it takes to be sure of that. */
  endPatience(): void {
    this.#limitMs = Math.min(this.#limitMs, SUSPECT_AFTER_MS);
  }

  /** What is to be done about it. */
  tick(): 'nothing' | 'ask' | 'end' {
    this.#silentMs += TICK_MS;
    if (this.#silentMs >= this.#limitMs) return 'end';
    return this.#silentMs >= Math.min(ASK_AFTER_MS, this.#limitMs / 2) ? 'ask' : 'nothing';
  }
}
