/** The lowest of this many measurements counts: what else runs on the machine only ever adds. */
const REPETITIONS = 5;

/** CPU microseconds of this thread that one synchronous run takes, at best. */
export function cpuOf(task: () => void): number {
  let best = Infinity;
  for (let run = 0; run < REPETITIONS; run += 1) {
    const from = process.threadCpuUsage();
    task();
    const { user, system } = process.threadCpuUsage(from);
    best = Math.min(best, user + system);
  }
  return best;
}

export interface Growth {
  /** CPU microseconds of the small and of the large input. */
  readonly small: number;
  readonly large: number;
  readonly factor: number;
}

/** Eight times the bytes may cost fourteen times the time: linear work with caches that no longer hold all of it, and nothing worse. */
export const MOST_GROWTH = 14;
export const SMALL_BYTES = 128 * 1024;
export const LARGE_BYTES = 1024 * 1024;

/** @param work prepares an input of so many bytes and gives the run over it */
export function growthOf(work: (bytes: number) => () => void): Growth {
  const small = cpuOf(work(SMALL_BYTES));
  const large = cpuOf(work(LARGE_BYTES));
  return { small, large, factor: large / small };
}
