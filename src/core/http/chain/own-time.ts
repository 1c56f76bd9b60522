import type { Clock } from '../../../plugin/index.ts';

/** All requests of the process wait while a plugin computes. */
export const BLOCKED_MS = 50;

/** Time that is reported already, of all plugins: what a plugin calls may be the code of another one. */
let reported = 0;

/** Measures the time that an external plugin holds the event loop. */
export class OwnTime {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onBlocked: (ms: number) => void;
  /** Time of the rest of the chain within the current measurement. */
  #others = 0;

  constructor(clock: Pick<Clock, 'now'>, onBlocked: (ms: number) => void) {
    this.#clock = clock;
    this.#onBlocked = onBlocked;
  }

  /** Runs the plugin's code, up to its first pause. */
  measure<T>(own: () => T): T {
    const end = this.begin();
    try {
      return own();
    } finally {
      end();
    }
  }

  /** Runs code of others that the plugin calls. */
  leaveOut<T>(others: () => T): T {
    const from = this.#clock.now();
    try {
      return others();
    } finally {
      this.#others += this.#clock.now() - from;
    }
  }

  /** Begins a measurement, which the returned function ends. */
  begin(): () => void {
    const [from, before] = [this.#clock.now(), reported];
    this.#others = 0;
    return () => {
      const ms = this.#clock.now() - from - Math.max(this.#others, reported - before);
      if (ms <= BLOCKED_MS) return;
      reported += ms;
      this.#onBlocked(ms);
    };
  }
}
