import { expect, it } from 'vitest';
import { countCalls, totalsOf } from './calls.ts';

it('A plain chat of 1 KB makes at most 1,270 calls, 395 of them after its reply has ended, and reads at most 23 headers by name', async () => {
  const figures = await countCalls();
  const { calls, callsOfRecord, headerReads } = totalsOf(figures);
  console.log(totalsOf(figures));
  expect(figures.functions.length).toBeGreaterThan(300);
  expect(calls).toBeLessThanOrEqual(1270);
  expect(callsOfRecord).toBeLessThanOrEqual(395);
  expect(headerReads).toBeLessThanOrEqual(23);
}, 120_000);
