import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Number of measurements. The lowest counts, because other work on the machine only adds time. */
const REPETITIONS = 5;

/** Microseconds. The kernel updates the CPU time of a running thread once per tick, every 4 ms here. */
const TICK = 4000;
/** Microseconds. Shorter work is repeated for this long, so that the error of one tick is small. */
const LEAST_BATCH = 20_000;

/** Work to measure, and how often. */
interface Run<Task> {
  readonly task: Task;
  readonly times: number;
}
/** Asks for runs, and gets the CPU microseconds of each. */
type Measuring<Task, Result> = Generator<Run<Task>, Result, number>;

function* once<Task>(task: Task, times = 1): Measuring<Task, number> {
  return yield { task, times };
}

/** Starts a clock for the CPU time of this thread, at most the elapsed time. The error is at most one tick. */
function stopwatch(): () => number {
  const started = performance.now();
  const from = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(from);
    return Math.min(user + system + TICK, (performance.now() - started) * 1000);
  };
}

function measured<Result>(measuring: Measuring<() => void, Result>): Result {
  let next = measuring.next();
  while (!next.done) {
    const { task, times } = next.value;
    const read = stopwatch();
    for (let time = 0; time < times; time += 1) task();
    next = measuring.next(read());
  }
  return next.value;
}

/** Nothing else must run in the thread meanwhile. */
async function measuredAsync<Result>(measuring: Measuring<() => Promise<void>, Result>): Promise<Result> {
  let next = measuring.next();
  while (!next.done) {
    const { task, times } = next.value;
    const read = stopwatch();
    for (let time = 0; time < times; time += 1) await task();
    next = measuring.next(read());
  }
  return next.value;
}

interface Effort {
  readonly repetitions?: number;
  /** Measuring stops below this time. */
  readonly enough?: number;
}

/** The lowest CPU time of one run. The first run compiles the code and determines the size of a batch. */
function* lowestOfBatches<Task>(task: Task, effort: Effort = {}): Measuring<Task, number> {
  const { repetitions = REPETITIONS, enough = 0 } = effort;
  const times = Math.max(1, Math.ceil(LEAST_BATCH / Math.max(1, yield* once(task))));
  let best = Infinity;
  for (let run = 0; run < repetitions && best > enough; run += 1)
    best = Math.min(best, (yield* once(task, times)) / times);
  return best;
}

/** The lowest CPU time of one run, in microseconds. */
export const cpuOf = (task: () => void, effort?: Effort): number => measured(lowestOfBatches(task, effort));

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
export const growthOf = (work: (bytes: number) => () => void): Growth => measured(growing(work));

/** `growthOf` for work that waits for promises. */
export const growthOfAsync = (work: (bytes: number) => () => Promise<void>): Promise<Growth> =>
  measuredAsync(growing(work));

function* growing<Task>(work: (bytes: number) => Task): Measuring<Task, Growth> {
  const [small, large] = [work(SMALL_BYTES), work(LARGE_BYTES)];
  // The large input runs first, because the first run also compiles the code: its error makes the factor too high, never too low.
  const first = yield* once(large);
  if (first < LEAST * MOST_GROWTH) return { small: LEAST, large: first, factor: first / LEAST };
  const look = Math.max(LEAST, Math.min(yield* once(small), yield* once(small)));
  if (first < look * MOST_GROWTH) return { small: look, large: first, factor: first / look };
  const quick = yield* growth(yield* lowest(small), large);
  if (quick.factor < MOST_GROWTH) return quick;
  let best = quick;
  for (let again = 0; again < TRIES && isDoubtful(best); again += 1) {
    collectGarbage();
    const close = yield* growth(yield* lowestOfBatches(small), large);
    if (close.factor < best.factor) best = close;
  }
  return best;
}

function* lowest<Task>(task: Task): Measuring<Task, number> {
  let best = Infinity;
  for (let run = 0; run < REPETITIONS; run += 1) best = Math.min(best, yield* once(task));
  return best;
}

function* growth<Task>(smallCost: number, task: Task): Measuring<Task, Growth> {
  const small = Math.max(LEAST, smallCost);
  const allowed = small * MOST_GROWTH;
  let large = yield* once(task);
  // Further runs can only lower the time: they are needless when it is allowed, and useless when it is far too high.
  for (let run = 1; run < REPETITIONS && large >= allowed && large < allowed * HOPELESS; run += 1)
    large = Math.min(large, yield* once(task));
  return { small, large, factor: large / small };
}

/** Number of close measurements. */
const TRIES = 3;
/** A factor this many times the allowed one is not noise. */
const HOPELESS = 3;
const isDoubtful = ({ factor }: Growth): boolean => factor >= MOST_GROWTH && factor < MOST_GROWTH * HOPELESS;

/** Node exposes the collector only with a flag, which a running process can still set. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
}
