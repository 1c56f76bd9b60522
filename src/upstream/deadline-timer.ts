import type { Clock } from '../plugin/index.ts';

/** setTimeout's largest delay; beyond it, it would fire at once. */
const MAX_DELAY_MS = 0x7fffffff;

/**
 * The one timer of a request. It is set anew only for a moment that is nearer than the one it waits for: limits that move
 * away (every chunk moves one) cost nothing, since whoever is woken looks what is due and waits again.
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
    // Rounded up: a timer that fires a fraction early would only be set again.
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
