/** The primary kills a worker whose event loop has not run for this long: it serves no request and does not recover by itself. */
export const SILENCE_LIMIT_MS = 10_000;
/** A worker that has sent no message for SUSPECT_AFTER_MS gets no new connections while others answer. */
const SUSPECT_AFTER_MS = 2_000;
/** How often the primary checks its workers. */
export const TICK_MS = 500;
/** A worker reports its metrics about once a second. The primary pings a worker that has not. */
const ASK_AFTER_MS = 1_000;

/**
 * The time since a worker's last message, counted in ticks of the primary. A clock would be wrong: a primary that was
 * paused itself (as a container) has received nothing either, and must not kill live workers.
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

  reset(): void {
    this.#silentMs = 0;
  }

  /** Shortens the limit at the end of a drain: a silent worker only gets the time needed to be suspect. */
  shortenLimit(): void {
    this.#limitMs = Math.min(this.#limitMs, SUSPECT_AFTER_MS);
  }

  /** Counts a tick. Returns the action that is due. */
  tick(): 'nothing' | 'ask' | 'end' {
    this.#silentMs += TICK_MS;
    if (this.#silentMs >= this.#limitMs) return 'end';
    return this.#silentMs >= Math.min(ASK_AFTER_MS, this.#limitMs / 2) ? 'ask' : 'nothing';
  }
}
