import { expect, it } from 'vitest';
import { isFull } from '../support/effort.ts';
import { gapsIn } from './gaps.ts';
import { killPoint } from './kill-points.ts';
import { runMoney } from './run.ts';

/** One moment of each step. `npm run test:money -- --points 200` has all of them. */
const POINTS = [
  killPoint('reserve', 'after', 6),
  killPoint('send', 'after', 5),
  killPoint('spool', 'half', 9),
  killPoint('settle', 'after', 4),
  killPoint('note settle', 'before', 3),
  killPoint('record', 'after', 5),
  killPoint('append', 'sent', 2),
  killPoint('commit', 'before', 4),
  killPoint('commit', 'after', 5),
  killPoint('report', 'sent', 1),
];

it.runIf(isFull('money')).each([
  {
    name: 'A gateway that kills itself at each step of the money of a request',
    points: POINTS,
    seed: 11,
    calmMs: 1500,
  },
  { name: 'A gateway whose workers are killed at random moments', faults: 10, workers: 2, seed: 12, calmMs: 2000 },
])(
  '$name has the bill of its upstream in the ledger and the admin API, to the nano-USD or marked',
  { timeout: 180_000 },
  async ({ name: _, ...options }) => {
    const result = await runMoney({ pauseMs: 800, ...options });
    expect([...result.problems, ...gapsIn(result, options)]).toEqual([]);
  },
);
