/** A worker that served for less than this counts as failed at its start. */
const SHORT_LIFE_MS = 1_000;
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/**
 * The pause before a worker is replaced: none if it served; otherwise growing with each failed start, because repeated
 * starts would use the whole machine.
 *
 * @param servedMs undefined: it never served
 * @param before the previous pause
 */
export function pauseBefore(servedMs: number | undefined, before: number): number {
  if (servedMs !== undefined && servedMs >= SHORT_LIFE_MS) return 0;
  return Math.min(Math.max(FIRST_MS, before * 2), LONGEST_MS);
}
