import { expect, it } from 'vitest';
import { runMoney } from './run.ts';

it.each([
  { name: 'A gateway', faults: 10, workers: undefined, seed: 11 },
  { name: 'A gateway with workers', faults: 10, workers: 2, seed: 12 },
])(
  '$name whose processes are killed at random moments has the bill of its upstream in the ledger, to the nano-USD or marked',
  { timeout: 180_000 },
  async ({ faults, workers, seed }) => {
    const result = await runMoney({ faults, workers, seed, pauseMs: 800 });
    expect(result.problems).toEqual([]);
    // The budget has counted the same, and nothing is held of it.
    expect(result.counter).toMatchObject({ spent: result.ledgerNano, leased: 0, unreconciled: 0 });
    // A run in which nothing was charged, or nothing was lost, shows nothing.
    expect(result.exact).toBeGreaterThan(20);
    expect(result.lost).toBeGreaterThan(0);
  },
);
