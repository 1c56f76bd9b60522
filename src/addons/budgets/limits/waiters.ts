import type { Clock } from '../../../plugin/index.ts';

const MAX_WAITING = 10_000;
/** Timers of one wait, one after the other: a stalled event loop runs its timers before it reads the answers that came. */
const WAIT_STEPS = 5;

/** Requests that wait for an answer of the store. */
export class Waiters {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** Those whose questions are being answered: a question that comes later is for the next call. */
  readonly #answering: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with the answer to the next call, or after `ms`. */
  wait(ms: number): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    let cancel: () => void;
    const wait = (steps: number): void => {
      cancel = this.#clock.after(ms / WAIT_STEPS, () => (steps > 1 ? wait(steps - 1) : resolve()));
    };
    wait(WAIT_STEPS);
    this.#waiting.push(() => {
      cancel();
      resolve();
    });
    return promise;
  }

  /** A call leaves with all questions so far. */
  ask(): void {
    this.#answering.push(...this.#waiting.splice(0));
  }

  /** @param isLast no call follows that would answer the others */
  answer(isLast: boolean): void {
    const answered = [...this.#answering.splice(0), ...(isLast ? this.#waiting.splice(0) : [])];
    for (const resolve of answered) resolve();
  }
}
