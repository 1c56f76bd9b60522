/** The part of the CPU time of the process that the work may take. */
const SHARE = 0.01;
/** Credit that a process begins with and may gather, in milliseconds of CPU time: its first work compiles code, and requests come in waves. */
const MOST_MS = 250;
/** Asking for a CPU time costs 2 µs (measured): that of the process is asked for as often. */
const ASK_MS = 100;

export interface ProcessTimes {
  /** Of a monotonic clock. */
  readonly now: () => number;
  /** CPU time of the process so far, and of this thread. */
  readonly cpu: () => number;
  readonly own: () => number;
}

const sumOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;
const OWN_TIMES: ProcessTimes = {
  now: () => performance.now(),
  cpu: () => sumOf(process.cpuUsage()),
  own: () => sumOf(process.threadCpuUsage()),
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
    const now = this.#times.now();
    if (now - this.#askedAt >= ASK_MS) this.#refill(now);
    if (this.#credit <= 0) return undefined;
    const begun = this.#times.own();
    try {
      return task();
    } finally {
      this.#credit -= this.#times.own() - begun;
    }
  }

  #refill(now: number): void {
    const cpu = this.#times.cpu();
    this.#credit = Math.min(MOST_MS, this.#credit + (cpu - this.#cpu) * SHARE);
    this.#cpu = cpu;
    this.#askedAt = now;
  }
}
