/** Who serves for less than this has died of its start. */
const SHORT_LIFE_MS = 1_000;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * How long the place of a worker stays empty: not at all when it did serve, and longer each time for one that dies of its start,
 * or starting it would be all the machine does.
 *
 * @param servedMs undefined: it never got as far
 * @param before how long it was the last time
 */
export function pauseBefore(servedMs: number | undefined, before: number): number {
  if (servedMs !== undefined && servedMs >= SHORT_LIFE_MS) return 0;
  return Math.min(Math.max(FIRST_MS, before * 2), LONGEST_MS);
}
