/**
 * Minimum useful time of a try. A new connection takes three round trips before its first byte is sent, and hosted
 * models begin to answer some hundreds of milliseconds after it.
 */
const USEFUL_MS = 1000;

/**
 * Whether enough time for a reply remains after a wait. A try that begins just before its deadline only replaces the
 * current error, which may carry a `retry-after`, by a timeout. When a request has little time in total, half of the
 * remaining time is enough.
 * @param waitMs the wait, in milliseconds
 * @param leftMs time until the deadline, in milliseconds
 */
export const leavesTime = (waitMs: number, leftMs: number): boolean =>
  waitMs < leftMs && leftMs - waitMs >= Math.min(USEFUL_MS, leftMs / 2);
