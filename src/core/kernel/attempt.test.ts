import { expect, test } from 'vitest';
import { GatewayError } from '../../plugin/errors.ts';
import { retriesOf } from './attempt.ts';

const busy = new GatewayError('overloaded', 'no');
const givenUp = new GatewayError('client_closed', 'another failed');
const of = (call: number, error?: GatewayError) => ({ call, error });

test.each([
  ['nothing', [], 0],
  ['one try', [of(0)], 0],
  ['a second try', [of(0, busy), of(0)], 1],
  // A 401 that led to a new token has no error of its own.
  ['a try with a new token', [of(0), of(0)], 1],
  ['three calls', [of(0), of(1), of(2)], 0],
  ['one of three calls again', [of(0), of(1, busy), of(2), of(1)], 1],
  ['all of them, for one that failed', [of(0, givenUp), of(1, busy), of(0), of(1)], 1],
  ['one of them twice', [of(0, givenUp), of(1, busy), of(0), of(1, busy), of(1)], 2],
])('retries of %s', (_, tries, count) => {
  expect(retriesOf(tries)).toBe(count);
});
