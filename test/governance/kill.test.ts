import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/plugin/index.ts';
import { UsageCounters } from '../../src/process/state/usage-counters.ts';
import { StateAnswers } from '../../src/process/workers/shared-state.ts';
import type { ToPrimary } from '../../src/process/workers/ipc.ts';
import type { CounterState } from '../../src/state/counters.ts';

const CAP = 600_000;
const PROCESSES = 20;
/** It runs until it has reached what it is about, for at least and at most so long. */
const LEAST_MS = 12_000;
const MOST_MS = 45_000;
const KILL_EVERY_MS = 400;

/** What providers have charged in one period, and what the bound allows beyond the cap. */
interface Charged {
  cost: number;
  readonly excess: Map<string, number>;
}

function chargedIn(folder: string): { readonly periods: ReadonlyMap<number, Charged>; readonly refused: number } {
  const periods = new Map<number, Charged>();
  let refused = 0;
  for (const name of readdirSync(folder))
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1)) {
      const [what, account = '', start, cost, inFlight] = line.split(' ');
      if (what === 'refused') refused += 1;
      else {
        const period = periods.get(Number(start)) ?? { cost: 0, excess: new Map<string, number>() };
        periods.set(Number(start), period);
        period.cost += Number(cost);
        // The last line of an account is its last reserve.
        period.excess.set(account, Number(inFlight));
      }
    }
  return { periods, refused };
}

/** Two days were spent on, requests were refused, and processes killed. The day before is for a process whose clock jumps back before it has spent. */
const hasReached = ({ periods, refused }: ReturnType<typeof chargedIn>, killed: number): boolean =>
  periods.size >= 2 && refused > 0 && killed >= 10;

it('20 processes that are killed, with clocks that jump, exceed a budget by no more than its bound', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-budgets-'));
  const failures: unknown[] = [];
  const usageCounters = new UsageCounters(
    { clock: systemClock, onLost() {}, onFailure: (error) => void failures.push(error) },
    undefined,
  );
  usageCounters.start();
  const answers = new StateAnswers(usageCounters);
  const running = new Map<number, ChildProcess>();
  /** Those that have begun to spend. */
  const spending = new Set<number>();
  let started = 0;
  let killed = 0;
  const start = (): void => {
    const number = (started += 1);
    const child = fork(join(import.meta.dirname, 'spender.ts'), [join(folder, `${number}.txt`), String(CAP)], {
      serialization: 'advanced',
    });
    running.set(number, child);
    child.on('message', (message: ToPrimary) => {
      if (message.type !== 'state') return;
      spending.add(number);
      void answers.answer(number, message).then((answer) => {
        if (child.connected) child.send(answer, () => {});
      });
    });
    child.on('error', () => {});
    child.on('exit', () => {
      running.delete(number);
      spending.delete(number);
      answers.ended(number);
    });
  };
  try {
    for (let at = 0; at < PROCESSES; at++) start();
    const from = performance.now();
    const isOver = (): boolean => {
      const ms = performance.now() - from;
      return ms > MOST_MS || (ms > LEAST_MS && hasReached(chargedIn(folder), killed));
    };
    while (!isOver()) {
      await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS));
      // A new process takes a while: most of them spend.
      if (spending.size < PROCESSES / 2) continue;
      const victims = [...spending];
      const victim = running.get(victims[Math.floor(Math.random() * victims.length)]!);
      if (!victim?.kill('SIGKILL')) continue;
      killed += 1;
      start();
    }
  } finally {
    const exits = [...running.values()].map((child) => new Promise((resolve) => child.on('exit', resolve)));
    for (const child of running.values()) child.kill('SIGKILL');
    await Promise.all(exits);
    usageCounters.stop();
  }
  expect(failures).toEqual([]);
  const { periods, refused } = chargedIn(folder);
  rmSync(folder, { recursive: true, force: true });
  const states: CounterState[] = [];
  for await (const part of usageCounters.ports!.counters.all()) states.push(...part);
  for (const [start, { cost, excess }] of periods) {
    const allowed = [...excess.values()].reduce((sum, one) => sum + one, 0);
    expect(cost - CAP, `the period from ${new Date(start).toISOString()}`).toBeLessThanOrEqual(allowed);
    // Nothing that was charged is missing: it is spent, or as good as spent.
    const state = states.find(({ period }) => period === start)!;
    expect(state.spent + state.unreconciled + allowed).toBeGreaterThanOrEqual(cost);
  }
  expect(hasReached({ periods, refused }, killed), `${periods.size} days, ${refused} refused, ${killed} killed`).toBe(
    true,
  );
}, 90_000);
