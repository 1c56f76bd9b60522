import { expect, it } from 'vitest';
import { countCalls, totalsOf } from './calls.ts';

it('A plain chat of 1 KB makes at most 930 calls, 300 of them after its reply has ended, and reads at most 12 headers by name', async () => {
  const figures = await countCalls();
  const { calls, callsOfRecord, headerReads } = totalsOf(figures);
  console.log(totalsOf(figures));
  expect(figures.functions.length).toBeGreaterThan(300);
  expect(calls).toBeLessThanOrEqual(930);
  expect(callsOfRecord).toBeLessThanOrEqual(300);
  expect(headerReads).toBeLessThanOrEqual(12);
}, 120_000);
