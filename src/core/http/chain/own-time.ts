import type { Clock } from '../../../plugin/index.ts';

/** All requests of the process wait while a plugin computes. */
const BLOCKED_MS = 50;

/** Time that is reported already, of all plugins: what a plugin calls may be the code of another one. */
let reported = 0;

/** Measures the time that an external plugin holds the event loop. */
export abstract class OwnTime {
  readonly #clock: Pick<Clock, 'now'> | undefined;
  /** Time of the rest of the chain within the current measurement. */
  #others = 0;
  #from: number | undefined;
  #before = 0;

  /** @param clock undefined: nothing is measured */
  constructor(clock: Pick<Clock, 'now'> | undefined) {
    this.#clock = clock;
  }

  abstract report(kind: 'blocked', error: undefined, ms: number): void;

  protected now(): number {
    return this.#clock?.now() ?? 0;
  }

  /** Runs code of the plugin, perhaps within a measurement. */
  measure(own: () => unknown): unknown {
    const [from, before, others] = [this.#from, this.#before, this.#others];
    this.begin();
    try {
      return own();
    } finally {
      this.stop();
      [this.#from, this.#before, this.#others] = [from, before, others];
    }
  }

  /** Leaves out code of others that the plugin called. */
  protected leaveOutSince(from: number): void {
    this.#others += this.now() - from;
  }

  /** Begins a measurement, which `stop` ends. Returns the time. */
  protected begin(): number {
    this.#before = reported;
    this.#others = 0;
    return (this.#from = this.now());
  }

  protected stop(): void {
    if (this.#from === undefined) return;
    const ms = this.now() - this.#from - Math.max(this.#others, reported - this.#before);
    this.#from = undefined;
    if (ms <= BLOCKED_MS) return;
    reported += ms;
    this.report('blocked', undefined, ms);
  }
}
