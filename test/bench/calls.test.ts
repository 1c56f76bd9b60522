import { expect, it } from 'vitest';
import { countCalls, totalsOf } from './calls.ts';

it('A plain chat of 1 KB makes at most 800 calls, 190 of them after its reply has ended, and reads at most 6 headers by name beside one pass over all', async () => {
  let figures = await countCalls();
  // On a busy machine timers fall due within requests, which adds some calls: the lowest of three counts is that of the code.
  for (let again = 0; again < 2 && totalsOf(figures).calls > 800; again += 1) {
    const other = await countCalls();
    if (totalsOf(other).calls < totalsOf(figures).calls) figures = other;
  }
  const { calls, callsOfRecord, headerReads, headerPasses } = totalsOf(figures);
  console.log(totalsOf(figures));
  expect(figures.functions.length).toBeGreaterThan(300);
  // The settings have no guards.
  expect(figures.functions.filter(({ file }) => file.startsWith('src/addons/guards/'))).toEqual([]);
  expect(calls).toBeLessThanOrEqual(800);
  expect(callsOfRecord).toBeLessThanOrEqual(190);
  expect(headerReads).toBeLessThanOrEqual(6);
  expect(headerPasses).toBeLessThanOrEqual(1);
}, 360_000);
