import { expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Clock } from '../../src/plugin/index.ts';
import { Spenders, type Spent } from './spenders.ts';

const CAP = 600_000;
const PROCESSES = 20;
/** It runs until it has reached what it is about, for at least and at most so long. */
const LEAST_MS = 12_000;
const MOST_MS = 45_000;
const KILL_EVERY_MS = 400;

/** Two days were spent on, requests were refused, and processes killed. The day before is for a process whose clock jumps back before it has spent. */
const hasReached = ({ periods, refused }: Spent, killed: number): boolean =>
  periods.size >= 2 && refused > 0 && killed >= 10;

it('20 processes that are killed, with clocks that jump, exceed a budget by no more than its bound', async () => {
  const spenders = new Spenders(CAP, systemClock);
  let killed = 0;
  try {
    for (let at = 0; at < PROCESSES; at++) spenders.start();
    const from = performance.now();
    const isOver = (): boolean => {
      const ms = performance.now() - from;
      return ms > MOST_MS || (ms > LEAST_MS && hasReached(spenders.spent(), killed));
    };
    while (!isOver()) {
      await sleep(KILL_EVERY_MS);
      // A new process takes a while: most of them spend.
      if (spenders.spending.size < PROCESSES / 2) continue;
      const victims = [...spenders.spending];
      if (!spenders.signal(victims[Math.floor(Math.random() * victims.length)]!, 'SIGKILL')) continue;
      killed += 1;
      spenders.start();
    }
  } finally {
    await spenders.end();
  }
  const spent = spenders.spent();
  await spenders.expectBound();
  const { periods, refused } = spent;
  expect(hasReached(spent, killed), `${periods.size} days, ${refused} refused, ${killed} killed`).toBe(true);
}, 90_000);

/** The counters' clock is so much faster: a lease ends after 3 seconds without a report, and a process reports each second. */
const TIMES = 10;
const fast: Clock = {
  ...systemClock,
  wall: (
    (from) => () =>
      from + (Date.now() - from) * TIMES
  )(Date.now()),
  after: (ms, task) => systemClock.after(ms / TIMES, task),
};

it('A process that is stopped for longer than its lease spends on, and the budget stays within its bound', async () => {
  const spenders = new Spenders(3_000_000, fast, ['steady']);
  const costOf = (number: number): number =>
    [...spenders.spent(number).periods.values()].reduce((sum, { cost }) => sum + cost, 0);
  try {
    const [frozen] = Array.from({ length: 5 }, () => spenders.start());
    await expect.poll(() => spenders.spending.size, { timeout: 60_000 }).toBe(5);
    await sleep(1500);
    expect(spenders.signal(frozen!, 'SIGSTOP')).toBe(true);
    await expect.poll(() => spenders.lost.length, { timeout: 60_000 }).toBeGreaterThan(0);
    const before = costOf(frozen!);
    expect(spenders.signal(frozen!, 'SIGCONT')).toBe(true);
    await expect.poll(() => costOf(frozen!), { timeout: 60_000 }).toBeGreaterThan(before);
    // The others go on until nothing is left.
    await expect.poll(() => spenders.spent().refused, { timeout: 60_000 }).toBeGreaterThan(100);
  } finally {
    await spenders.end();
  }
  await spenders.expectBound();
}, 90_000);
