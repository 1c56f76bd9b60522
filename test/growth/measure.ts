/** The lowest of this many measurements counts: what else runs on the machine only ever adds. */
const REPETITIONS = 5;

/** Microseconds: some kernels count CPU time in ticks of 4 ms, so a short run is told by the clock instead. */
const TICK = 4000;

/** CPU microseconds of this thread that one synchronous run takes, at best: never more than the clock says, never more than a tick off. */
function cpuOnce(task: () => void): number {
  const started = performance.now();
  const from = process.threadCpuUsage();
  task();
  const { user, system } = process.threadCpuUsage(from);
  return Math.min(user + system + TICK, (performance.now() - started) * 1000);
}

export function cpuOf(task: () => void, repetitions = REPETITIONS): number {
  let best = Infinity;
  for (let run = 0; run < repetitions; run += 1) best = Math.min(best, cpuOnce(task));
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

/** Microseconds: less is counted as so much, since the noise of a collector or of cold memory would be most of it. */
const LEAST = 1000;

/** @param work prepares an input of so many bytes and gives the run over it */
export function growthOf(work: (bytes: number) => () => void): Growth {
  const small = Math.max(LEAST, cpuOf(work(SMALL_BYTES)));
  const task = work(LARGE_BYTES);
  // Further runs could only lower it.
  let large = Infinity;
  for (let run = 0; run < REPETITIONS && large >= small * MOST_GROWTH; run += 1)
    large = Math.min(large, cpuOf(task, 1));
  return { small, large, factor: large / small };
}
