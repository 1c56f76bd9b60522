/**
 * What a try needs at least. A new connection takes three round trips before its first byte is sent, and hosted models begin to
 * answer some hundreds of milliseconds after it.
 */
const USEFUL_MS = 1000;

/**
 * Whether a wait leaves time for the answer it is for. A try that begins just before its deadline only turns the error that stands,
 * which may say when to come again, into a timeout. Where a request has little time at all, half of what is left is enough.
 */
export const leavesTime = (waitMs: number, leftMs: number): boolean =>
  waitMs < leftMs && leftMs - waitMs >= Math.min(USEFUL_MS, leftMs / 2);
