import type { Cancellation, Clock } from '../../../plugin/index.ts';

interface GateSetup {
  readonly clock: Clock;
  readonly running: number;
}

const MAX_WAITING = 1000;
/** Failures in a row that open the breaker of the gate. */
const FAILURES = 5;
/** The time for which an open breaker refuses calls; then one call tries. */
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

  /**
   * Rejects at the deadline (monotonic), while the breaker is open, when too many calls wait, and with the reason of the cancellation,
   * which is no failure of the address.
   */
  async run<T>(deadline: number, call: () => Promise<T>, cancellation?: Cancellation): Promise<T> {
    const { clock } = this.#setup;
    if (this.#failures >= FAILURES && clock.now() < this.#openUntil)
      throw new Error('the last calls failed: the next one is tried in some seconds');
    // Others fail at once until this call has its result.
    if (this.#failures >= FAILURES) this.#openUntil = clock.now() + OPEN_MS;
    await this.#enter(deadline, cancellation);
    try {
      const result = await call();
      this.#failures = 0;
      return result;
    } catch (error) {
      // Callers who leave open no breaker for others, and keep none open.
      if (!cancellation?.reason) this.#failures += 1;
      this.#openUntil = cancellation?.reason ? 0 : clock.now() + OPEN_MS;
      throw cancellation?.reason ?? error;
    } finally {
      this.#running -= 1;
      const [next] = this.#waiting;
      next?.();
    }
  }

  async #enter(deadline: number, cancellation: Cancellation | undefined): Promise<void> {
    const { clock, running } = this.#setup;
    cancellation?.throwIfCancelled();
    if (this.#running < running) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.size >= MAX_WAITING) throw new Error('too many calls wait');
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        stopTimer();
        stopListening?.();
        this.#waiting.delete(start);
      };
      const start = (): void => {
        leave();
        this.#running += 1;
        resolve();
      };
      const giveUp = (reason: Error): void => {
        leave();
        reject(reason);
      };
      const stopTimer = clock.after(Math.max(1, deadline - clock.now()), () =>
        giveUp(new Error('no call was free in time')),
      );
      const stopListening = cancellation?.onCancel(giveUp);
      this.#waiting.add(start);
    });
  }
}
