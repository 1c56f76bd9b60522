import type { Clock } from '../plugin/index.ts';

/** setTimeout's largest delay; with a larger one it would fire immediately. */
const MAX_DELAY_MS = 0x7fffffff;

/**
 * The only timer of a request. It is reset only for an earlier moment. Limits that move later (every chunk moves one) cost nothing:
 * `wake` checks which limit is due and waits again.
 */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #at = Infinity;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  waitUntil(at: number): void {
    if (at >= this.#at) return;
    this.#cancel?.();
    this.#at = at;
    // Rounded up: a timer that fires a fraction early would have to be set again.
    const delay = Math.min(MAX_DELAY_MS, Math.max(0, Math.ceil(at - this.#clock.now())));
    this.#cancel = this.#clock.after(delay, () => {
      this.#at = Infinity;
      this.#cancel = undefined;
      this.#wake();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#at = Infinity;
  }
}
