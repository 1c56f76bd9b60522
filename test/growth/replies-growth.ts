import { cpuOf, LARGE_BYTES, MOST_GROWTH, SMALL_BYTES } from './measure.ts';

/** What is quicker at 1 MB than this holds nobody up, and says little about growth. */
const NOTHING_MS = 20;
/** CPU clocks of some machines tick each 4 or 10 ms: shorter work is done so often that it takes this long. */
const MEASURED_MS = 60;

function wallOf(task: () => void, most: number, enough: number): number {
  let best = Infinity;
  for (let run = 0; run < most && best > enough; run += 1) {
    const from = performance.now();
    task();
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

/** CPU time of one run. */
function cpuMsOf(task: () => void, wallMs: number): number {
  const times = Math.max(1, Math.ceil(MEASURED_MS / wallMs));
  const all = cpuOf(() => {
    for (let time = 0; time < times; time += 1) task();
  });
  return all / 1000 / times;
}

/**
 * How many times as much the large input costs. The clock on the wall is asked first, which is never faster than the CPU's: where that shows
 * growth in proportion there is nothing to look at more closely. 0 for what costs nothing. CPU time decides the others, and it is asked three times before it says no.
 */
export function growthBetween(small: () => void, large: () => void): number {
  const smallWall = wallOf(small, 3, 0);
  const largeWall = wallOf(large, 3, Math.max(NOTHING_MS, smallWall * MOST_GROWTH));
  if (largeWall <= NOTHING_MS) return 0;
  if (largeWall < smallWall * MOST_GROWTH) return largeWall / smallWall;
  const measure = (): number => cpuMsOf(large, largeWall) / cpuMsOf(small, smallWall);
  let factor = measure();
  for (let again = 0; factor >= MOST_GROWTH && again < 2; again += 1) factor = Math.min(factor, measure());
  return factor;
}

export const GROWTH_BYTES = [SMALL_BYTES, LARGE_BYTES] as const;
