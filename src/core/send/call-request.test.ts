import { expect, it } from 'vitest';
import { deadlineOf } from './call-request.ts';

it.each([
  ['total', 'a time of the target that ends first', 1000, 0, 900],
  ['total', 'the defaults, which are equal, some milliseconds after the request has begun', 900_000, 40, 900_000],
  ['request', 'a deadline that ends first', 900, 0, 1000],
  ['request', 'a deadline that a second target has not its whole time before', 900_000, 60_000, 900_000],
  ['request', 'a deadline a little below the time of the target', 899_999, 0, 900_000],
] as const)('the %s is named for %s', (owner, _, requestMs, after, total) => {
  const attempt = { startedAt: 5 + after, timeouts: { total } as never };
  expect(deadlineOf({ startedAt: 5, deadline: 5 + requestMs }, attempt)).toBe(owner);
});
