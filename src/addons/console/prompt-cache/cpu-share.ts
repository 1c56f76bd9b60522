/** The part of the CPU time of the process that the work may take. */
const SHARE = 0.01;
/** Credit that a process begins with and may gather, in milliseconds: the work of some hundred requests at once. */
const MOST_MS = 20;
/** Asking for the CPU time costs 2 µs (measured): as often, it is nothing. */
const ASK_MS = 100;

export interface ProcessTimes {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** CPU time of the process so far, in milliseconds. */
  readonly cpu: () => number;
}

const OWN_TIMES: ProcessTimes = {
  now: () => performance.now(),
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Work that takes at most 1 % of the CPU time of the process: what comes beyond is not done. */
export class CpuShare {
  readonly #times: ProcessTimes;
  #credit = MOST_MS;
  #cpu: number;
  #askedAt: number;

  constructor(times: ProcessTimes = OWN_TIMES) {
    this.#times = times;
    this.#cpu = times.cpu();
    this.#askedAt = times.now();
  }

  /** Undefined: there is no time for it. */
  run<Result>(task: () => Result): Result | undefined {
    const begun = this.#times.now();
    if (begun - this.#askedAt >= ASK_MS) this.#refill(begun);
    if (this.#credit <= 0) return undefined;
    try {
      return task();
    } finally {
      // On a busy machine more time passes than the work takes: it is done less often then.
      this.#credit -= this.#times.now() - begun;
    }
  }

  #refill(now: number): void {
    const cpu = this.#times.cpu();
    this.#credit = Math.min(MOST_MS, this.#credit + (cpu - this.#cpu) * SHARE);
    this.#cpu = cpu;
    this.#askedAt = now;
  }
}
