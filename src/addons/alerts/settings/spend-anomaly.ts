/** When the spending of one hour is an anomaly. */
export interface AnomalyRule {
  /** At least so many times the median of the hours before. */
  readonly factor: number;
  /** At least this much, nano-USD. */
  readonly floor: number;
}

/** Fewer hours with spending say nothing about an ordinary one. */
export const LEAST_HOURS = 24;

/**
 * Whether an hour spent far more than the hours before it. The median ignores single expensive hours, and hours without spending are
 * left out, so that a node that works by day only is compared with its days.
 *
 * @param before what each hour before spent, in any order
 * @returns the median if the hour is an anomaly
 */
export function anomalyOf(
  spent: number,
  before: readonly number[],
  { factor, floor }: AnomalyRule,
): number | undefined {
  if (spent < floor) return undefined;
  const hours = before.filter((nano) => nano > 0).toSorted((a, b) => a - b);
  if (hours.length < LEAST_HOURS) return undefined;
  const median = (hours[(hours.length - 1) >> 1]! + hours[hours.length >> 1]!) / 2;
  return spent >= factor * median ? median : undefined;
}
