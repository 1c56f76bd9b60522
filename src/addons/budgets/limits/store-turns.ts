import type { Clock } from '../../../plugin/index.ts';

const REPORT_MS = 1000;
/** Wait after a failure of the store. */
const AFTER_FAILURE_MS = 1000;

interface TurnsSetup {
  readonly clock: Clock;
  /** One turn. Rejects when the store fails. */
  readonly work: () => Promise<void>;
  /** Called when the store fails, and when it answers again. */
  readonly onStore: (failure: Error | undefined) => void;
}

/**
 * When a process asks its store: each second, at once where a request waits for the answer, and after a failure not before a while. One turn at a
 * time: answers cannot overtake each other.
 */
export class StoreTurns {
  /** The report of a second has not been sent yet. */
  isReportDue = false;
  /** A request has no room until the store answers. Without it, questions wait for the next report. */
  isUrgent = false;
  readonly #setup: TurnsSetup;
  readonly #waiters: Waiters;
  #running: Promise<void> | undefined;
  #stopLater: (() => void) | undefined;
  #stopTimer: (() => void) | undefined;
  /** The store failed: monotonic milliseconds before which it is not asked again. */
  #failedUntil: number | undefined;
  #stopped = false;

  constructor(setup: TurnsSetup) {
    this.#setup = setup;
    this.#waiters = new Waiters(setup.clock);
  }

  get isDown(): boolean {
    return this.#failedUntil !== undefined;
  }

  get isPaused(): boolean {
    return this.#setup.clock.now() < (this.#failedUntil ?? 0);
  }

  start(): void {
    if (this.#stopped) return;
    this.#stopTimer = this.#setup.clock.after(REPORT_MS, () => {
      this.isReportDue = true;
      this.#run();
      this.start();
    });
  }

  /** Resolves when no turn is running, and none follows. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stopTimer?.();
    this.#stopLater?.();
    await this.#running;
  }

  soon(): void {
    this.isUrgent = true;
    this.#run();
  }

  /** @param at monotonic milliseconds */
  at(at: number): void {
    const ms = at - this.#setup.clock.now();
    if (ms <= 0) this.soon();
    else
      this.#stopLater ??= this.#setup.clock.after(ms, () => {
        this.#stopLater = undefined;
        this.soon();
      });
  }

  /** The questions of a turn leave: those that wait have theirs among them. */
  asking(): void {
    this.#waiters.ask();
  }

  /** Resolves when the store has answered the questions asked so far or has failed to, or after `ms`. A stall of the process does not count. */
  answered(ms: number): Promise<void> {
    return this.#running !== undefined || !this.isPaused ? this.#waiters.wait(ms) : Promise.resolve();
  }

  fail(error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (!this.isDown) this.#setup.onStore(failure);
    this.#failedUntil = this.#setup.clock.now() + AFTER_FAILURE_MS;
    this.isUrgent = false;
  }

  #run(): void {
    if (this.#running || this.#stopped) return;
    this.#running = Promise.resolve()
      .then(() => this.#setup.work())
      .then(
        () => this.#recovered(),
        (error: unknown) => this.fail(error),
      )
      .finally(() => {
        this.#running = undefined;
        if (this.isUrgent) this.#run();
        this.#waiters.answer(!this.isUrgent);
      });
  }

  #recovered(): void {
    if (!this.isDown) return;
    this.#failedUntil = undefined;
    this.#setup.onStore(undefined);
  }
}

const MAX_WAITING = 10_000;
/** Timers of one wait, one after the other: a stalled event loop runs its timers before it reads the answers that came. */
const WAIT_STEPS = 5;

class Waiters {
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
