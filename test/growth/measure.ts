import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Number of measurements. The lowest counts, because other work on the machine only adds time. */
const REPETITIONS = 5;

/** Microseconds. The kernel updates the CPU time of a running thread once per tick, every 4 ms here. */
const TICK = 4000;
/** Microseconds. Shorter work is repeated for this long, so that the error of one tick is small. */
const LEAST_BATCH = 20_000;

/** CPU microseconds of this thread for `times` synchronous runs, at most the elapsed time. The error is at most one tick. */
function cpuOnce(task: () => void, times = 1): number {
  const started = performance.now();
  const from = process.threadCpuUsage();
  for (let time = 0; time < times; time += 1) task();
  const { user, system } = process.threadCpuUsage(from);
  return Math.min(user + system + TICK, (performance.now() - started) * 1000);
}

/**
 * The lowest CPU time of one run, in microseconds. The first run compiles the code and determines the size of a batch.
 * @param enough measuring stops below this time
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

/**
 * Largest allowed factor of the time for eight times the bytes. Linear work takes eight times as long, and longer when the large input
 * does not fit into the processor's caches. Quadratic work takes sixty-four times as long.
 */
export const MOST_GROWTH = 14;
export const SMALL_BYTES = 128 * 1024;
export const LARGE_BYTES = 1024 * 1024;

/** Microseconds. A shorter time counts as this, because most of it would be garbage collection or cold memory. */
const LEAST = 1000;

/**
 * Measures how the time grows with the input. Most inputs pass a quick measurement. An input that fails it is measured again, more often,
 * after a garbage collection and with compiled code.
 * @param work prepares an input of the given size and returns the function to measure
 */
export function growthOf(work: (bytes: number) => () => void): Growth {
  const [small, large] = [work(SMALL_BYTES), work(LARGE_BYTES)];
  // The large input runs first, because the first run also compiles the code: its error makes the factor too high, never too low.
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
  // Further runs can only lower the time: they are needless when it is allowed, and useless when it is far too high.
  for (let run = 1; run < REPETITIONS && large >= allowed && large < allowed * HOPELESS; run += 1)
    large = Math.min(large, cpuOnce(task));
  return { small, large, factor: large / small };
}

/** Number of close measurements. */
const TRIES = 3;
/** A factor this many times the allowed one is not noise. */
const HOPELESS = 3;
const isDoubtful = ({ factor }: Growth): boolean => factor >= MOST_GROWTH && factor < MOST_GROWTH * HOPELESS;

/** Node exposes the collector only with a flag, which a running process can still set. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}
