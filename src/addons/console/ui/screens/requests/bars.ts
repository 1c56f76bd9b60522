import type { ListedRequest } from '../../api/shapes.ts';
import { stateOf } from './rows.ts';

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly good: number;
  readonly bad: number;
}

const BARS = 90;
const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400].map((seconds) => seconds * 1000);

/** Bars over the time of the rows, of a round length each. */
export function barsOf(rows: readonly ListedRequest[]): readonly Bar[] {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (!newest || !oldest) return [];
  const [first, last] = [Date.parse(oldest.time), Date.parse(newest.time)];
  const step = STEPS.find((one) => (last - first) / one < BARS) ?? Math.ceil((last - first) / BARS);
  const start = Math.floor(first / step) * step;
  const bars = Array.from({ length: Math.floor((last - start) / step) + 1 }, (_, index) => ({
    from: start + index * step,
    to: start + (index + 1) * step,
    good: 0,
    bad: 0,
  }));
  for (const row of rows) {
    const bar = bars[Math.floor((Date.parse(row.time) - start) / step)];
    const state = stateOf(row);
    if (bar) bar[state === 'failed' || state === 'aborted' ? 'bad' : 'good'] += 1;
  }
  return bars;
}

export const highest = (bars: readonly Bar[]): number => Math.max(1, ...bars.map(({ good, bad }) => good + bad));
