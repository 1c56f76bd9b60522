import type { Clock } from '../../../plugin/index.ts';

/** All requests of the process wait while a plugin computes. */
const BLOCKED_MS = 50;

/** Time that is reported already, of all plugins: what a plugin calls may be the code of another one. */
let reported = 0;

/** Measures the time that an external plugin holds the event loop. */
export class OwnTime {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #onBlocked: (ms: number) => void;
  /** Time of the rest of the chain within the current measurement. */
  #others = 0;
  #from: number | undefined;
  #before = 0;

  constructor(clock: Pick<Clock, 'now'>, onBlocked: (ms: number) => void) {
    this.#clock = clock;
    this.#onBlocked = onBlocked;
  }

  /** Runs code of the plugin, perhaps within a measurement. */
  measure<T>(own: () => T): T {
    const [from, before, others] = [this.#clock.now(), reported, this.#others];
    this.#others = 0;
    try {
      return own();
    } finally {
      this.#end(from, before);
      this.#others = others;
    }
  }

  /** Leaves out code of others that the plugin called. */
  leaveOut(ms: number): void {
    this.#others += ms;
  }

  /** Begins a measurement, which `stop` ends. */
  begin(): void {
    this.#from = this.#clock.now();
    this.#before = reported;
    this.#others = 0;
  }

  stop(): void {
    if (this.#from !== undefined) this.#end(this.#from, this.#before);
    this.#from = undefined;
  }

  #end(from: number, before: number): void {
    const ms = this.#clock.now() - from - Math.max(this.#others, reported - before);
    if (ms <= BLOCKED_MS) return;
    reported += ms;
    this.#onBlocked(ms);
  }
}
