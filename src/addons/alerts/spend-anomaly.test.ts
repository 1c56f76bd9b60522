import { expect, it } from 'vitest';
import { anomalyOf } from './spend-watch.ts';

const USD = 1e9;
const rule = { factor: 5, floor: 10 * USD };
const hours = (count: number, usd: number): number[] => Array.from({ length: count }, () => usd * USD);

it.each([
  ['an hour of five times the median', 10, hours(24, 2), 2 * USD],
  ['an hour below five times the median', 9.99, hours(24, 2), undefined],
  ['an hour below the floor', 9.99, hours(24, 0.01), undefined],
  ['an hour after too few others', 100, hours(23, 2), undefined],
  ['an hour after many without spending', 100, [...hours(23, 2), ...hours(500, 0)], undefined],
  ['an hour after one that was expensive', 10, [...hours(24, 2), 1000 * USD], 2 * USD],
  ['an hour between two middle ones', 30, [...hours(12, 2), ...hours(12, 4)], 3 * USD],
])('%s', (_, usd, before, median) => {
  expect(anomalyOf(usd * USD, before, rule)).toBe(median);
});
