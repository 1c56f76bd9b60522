import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { readWorkers } from './serve.ts';

it.each([
  ['1', 1],
  ['64', 64],
  ['auto', Math.min(availableParallelism(), 64)],
  ['0', undefined],
  ['65', undefined],
  ['2.5', undefined],
  ['two', undefined],
])('--workers %s is read as %s', (text, workers) => {
  expect(readWorkers(text)).toBe(workers);
});
