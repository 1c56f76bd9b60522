import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The lowest of this many measurements counts: what else runs on the machine only ever adds. */
const REPETITIONS = 5;

/** Microseconds: the CPU time of a thread that runs is up to a tick of the kernel old, 4 ms here. */
const TICK = 4000;
/** Microseconds: shorter work is done so often that a tick is little of it. */
const LEAST_BATCH = 20_000;

/** CPU microseconds of this thread for so many synchronous runs: no more than the clock says, no more than a tick off. */
function cpuOnce(task: () => void, times = 1): number {
  const started = performance.now();
  const from = process.threadCpuUsage();
  for (let time = 0; time < times; time += 1) task();
  const { user, system } = process.threadCpuUsage(from);
  return Math.min(user + system + TICK, (performance.now() - started) * 1000);
}

/**
 * CPU microseconds of one run, at best. The first one compiles the code, and says how many make a batch.
 * @param enough nothing below it makes a difference
 */
export function cpuOf(task: () => void, { repetitions = REPETITIONS, enough = 0 } = {}): number {
  const times = Math.max(1, Math.ceil(LEAST_BATCH / Math.max(1, cpuOnce(task))));
  let best = Infinity;
  for (let run = 0; run < repetitions && best > enough; run += 1) best = Math.min(best, cpuOnce(task, times) / times);
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

/** Microseconds: less counts as this much, since the noise of a collector or of cold memory would be most of it. */
const LEAST = 1000;

/**
 * A busy machine makes the first, quick look at the small input too long rather than too short. What looks like too much growth is
 * measured closely, with the garbage of others gone and the code compiled.
 * @param work prepares an input of so many bytes and gives the run over it
 */
export function growthOf(work: (bytes: number) => () => void): Growth {
  const [small, large] = [work(SMALL_BYTES), work(LARGE_BYTES)];
  // The large input first: it compiles the code, so a small one that follows is not too slow, and what is wrong makes the factor too high.
  const first = cpuOnce(large);
  if (first < LEAST * MOST_GROWTH) return { small: LEAST, large: first, factor: first / LEAST };
  const look = Math.max(LEAST, Math.min(cpuOnce(small), cpuOnce(small)));
  if (first < look * MOST_GROWTH) return { small: look, large: first, factor: first / look };
  const quick = growth(lowest(small), large);
  if (quick.factor < MOST_GROWTH) return quick;
  let best = quick;
  for (let again = 0; again < TRIES && isDoubtful(best); again += 1) {
    collectGarbage();
    const close = growth(cpuOf(small), large);
    if (close.factor < best.factor) best = close;
  }
  return best;
}

function lowest(task: () => void): number {
  let best = Infinity;
  for (let run = 0; run < REPETITIONS; run += 1) best = Math.min(best, cpuOnce(task));
  return best;
}

function growth(smallCost: number, task: () => void): Growth {
  const small = Math.max(LEAST, smallCost);
  const allowed = small * MOST_GROWTH;
  let large = cpuOnce(task);
  // Once it is low enough further runs could only lower it, and what is far above is no noise.
  for (let run = 1; run < REPETITIONS && large >= allowed && large < allowed * HOPELESS; run += 1)
    large = Math.min(large, cpuOnce(task));
  return { small, large, factor: large / small };
}

const TRIES = 3;
const HOPELESS = 3;
const isDoubtful = ({ factor }: Growth): boolean => factor >= MOST_GROWTH && factor < MOST_GROWTH * HOPELESS;

/** The collector's own word for it is hidden unless a flag shows it, which a running process can still set. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}
