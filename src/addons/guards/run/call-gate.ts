import type { Clock } from '../../../plugin/index.ts';

interface GateSetup {
  readonly clock: Clock;
  /** Calls at a time. */
  readonly running: number;
}

/** Calls that wait for others to end. */
const MAX_WAITING = 1000;
/** So many failures in a row open the gate's breaker, */
const FAILURES = 5;
/** for so long; then one call tries. */
const OPEN_MS = 5000;

/** Bounds the calls to one address: those that run, those that wait, and those to an address that fails. */
export class CallGate {
  readonly #setup: GateSetup;
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #failures = 0;
  #openUntil = 0;

  constructor(setup: GateSetup) {
    this.#setup = setup;
  }

  /** Rejects at the deadline (monotonic), while the breaker is open, and when too many calls wait. */
  async run<T>(deadline: number, call: () => Promise<T>): Promise<T> {
    const { clock } = this.#setup;
    if (this.#failures >= FAILURES && clock.now() < this.#openUntil)
      throw new Error('the last calls failed: the next one is tried in some seconds');
    // Others fail at once until this call has its result.
    if (this.#failures >= FAILURES) this.#openUntil = clock.now() + OPEN_MS;
    await this.#enter(deadline);
    try {
      const result = await call();
      this.#failures = 0;
      return result;
    } catch (error) {
      this.#failures += 1;
      this.#openUntil = clock.now() + OPEN_MS;
      throw error;
    } finally {
      this.#running -= 1;
      const [next] = this.#waiting;
      next?.();
    }
  }

  async #enter(deadline: number): Promise<void> {
    const { clock, running } = this.#setup;
    if (this.#running < running) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.size >= MAX_WAITING) throw new Error('too many calls wait');
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        stopTimer();
        this.#waiting.delete(start);
        this.#running += 1;
        resolve();
      };
      const stopTimer = clock.after(Math.max(1, deadline - clock.now()), () => {
        this.#waiting.delete(start);
        reject(new Error('no call was free in time'));
      });
      this.#waiting.add(start);
    });
  }
}
