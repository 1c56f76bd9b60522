import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { README, withMetrics } from './metrics-table.ts';

const readme = readFileSync(README, 'utf8');

it('the README of the telemetry plugin has a row for every metric, and every error type', () => {
  // Anew with `node test/telemetry/metrics-table.ts`.
  expect(readme).toBe(withMetrics(readme));
});

it.each([
  ['a row', /^\| `gatehouse_requests_total`.*\n/m],
  ['an error type', /`rate_limited`, /],
])('a README that lacks %s is another one', (_, part) => {
  const lacking = readme.replace(part, '');
  expect(lacking).not.toBe(readme);
  expect(withMetrics(lacking)).toBe(readme);
});
