import { describe, expect, test } from 'vitest';
import { budgetOf } from '../../src/addons/budgets/limits/budgets.testkit.ts';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { isFull } from '../support/effort.ts';
import { FleetStore } from './credit/fleet-store.ts';
import { Replica } from './credit/replica.ts';
import { figuresOf, ruleOf } from './credit/scale.ts';
import { simulate, type Outcome } from './credit/simulation.ts';

const SEEDS = isFull('governance') ? 3000 : 40;

function fleet(replicas: number, latency = 5) {
  const clock = createFakeClock();
  const store = new FleetStore(clock);
  const start = (number: number): Replica =>
    new Replica({ store, clock, number, latency: () => latency, draw: () => 100 });
  return { clock, store, all: Array.from({ length: replicas }, (_, at) => start(at + 1)) };
}

/** Each replica has asked the store for credit, and has got its part. */
async function withCredit(replicas: number, latency?: number) {
  const started = fleet(replicas, latency);
  for (const replica of started.all) await replica.ask(budgetOf(1000, { ref: 'key:other' }), 1);
  await started.clock.advance(4000);
  return started;
}

test(
  'what a fleet spends exceeds a cap by no more than the formula, and reaches it',
  async () => {
    const outcomes: Outcome[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const outcome = await simulate(seed);
      expect(outcome.beyond, `seed ${seed}`).toBeLessThanOrEqual(0);
      outcomes.push(outcome);
    }
    const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
    // The runs reach what the bound is about.
    const reached = outcomes.filter(
      ({ overspent, excess, lost, whileDown }) => overspent > 0 && overspent === excess + lost + whileDown,
    );
    expect(reached.length).toBeGreaterThan(SEEDS / 20);
    expect(sum(({ onCredit }) => onCredit)).toBeGreaterThan(SEEDS * 20);
    expect(sum(({ crashes }) => crashes)).toBeGreaterThan(SEEDS);
    expect(sum(({ lowered }) => lowered)).toBeGreaterThan(SEEDS / 4);
    expect(sum(({ failovers }) => failovers)).toBeGreaterThan(SEEDS / 20);
  },
  60 * 60_000,
);

describe('a replica of a fleet', () => {
  test('sends the first request of a budget without a question to the store', async () => {
    const { all } = await withCredit(4);
    expect(all.map((replica) => replica.send(budgetOf(100_000), { reserve: 500, cost: 500 }))).toEqual(
      all.map(() => 'sent'),
    );
  });

  test('uses no credit of which four requests would not fit into its part', async () => {
    const { all } = await withCredit(4);
    // A part is 2,500.
    expect(all[0]!.send(budgetOf(100_000), { reserve: 626, cost: 626 })).toBe('unavailable');
    expect(all[0]!.send(budgetOf(100_000), { reserve: 625, cost: 625 })).toBe('sent');
  });

  test('uses no credit of a budget that others have nearly spent, although it has never touched it', async () => {
    const { all, clock } = await withCredit(3);
    const budget = budgetOf(100_000);
    expect(await all[0]!.ask(budget, 85_000)).toBe('sent');
    await clock.advance(2000);
    expect(all[1]!.send(budget, { reserve: 10, cost: 10 })).toBe('unavailable');
    expect(await all[1]!.ask(budget, 10)).toBe('sent');
  });

  test('uses no credit once the store has not answered two reports', async () => {
    const { all, clock } = await withCredit(3);
    all[0]!.line.broken = true;
    await clock.advance(1000);
    expect(all[0]!.send(budgetOf(100_000), { reserve: 10, cost: 10 })).toBe('sent');
    await clock.advance(2000);
    expect(all[0]!.send(budgetOf(100_000, { ref: 'key:b' }), { reserve: 10, cost: 10 })).toBe('unavailable');
  });

  test('is refused by the answer to its own question, and not by an older one', async () => {
    const { all, clock } = await withCredit(2);
    const budget = budgetOf(1000);
    expect(await all[0]!.ask(budget, 900)).toBe('sent');
    expect(await all[1]!.ask(budget, 200)).toBe('exceeded');
    // The other one gives its room back, because its request cost nothing.
    all[0]!.release();
    await clock.advance(15_000);
    expect(await all[1]!.ask(budget, 200)).toBe('sent');
    expect(all[1]!.send(budget, { reserve: 2000, cost: 0 })).toBe('exceeded');
  });

  test('frees its part when it stops, and leaves it to no other process when it is killed', async () => {
    const { all, clock } = await withCredit(3);
    void all[0]!.leases.close();
    await clock.advance(32_000);
    // Half of 10,000 each.
    expect(all[1]!.send(budgetOf(100_000), { reserve: 1250, cost: 0 })).toBe('sent');
    all[2]!.line.dead = true;
    await clock.advance(32_000);
    // A replica alone needs no credit: all room of a budget is in its leases.
    expect(all[1]!.send(budgetOf(100_000, { ref: 'key:b' }), { reserve: 1, cost: 0 })).toBe('unavailable');
  });
});

test('a fleet spends the last cent of a budget', async () => {
  const { all, clock } = await withCredit(8);
  const budget = budgetOf(100_000);
  for (let round = 0; round < 400; round++)
    for (const replica of all) {
      replica.send(budget, { reserve: 60, cost: 60 });
      replica.settleAll();
      if (round % 8 === 0) await clock.advance(20);
    }
  // Parts of it lie in leases that are too small for another request, until those go back.
  for (let round = 0; round < 4; round++) {
    await clock.advance(15_000);
    for (const size of [1000, 100, 10, 1])
      for (const replica of all) while ((await replica.ask(budget, size)) === 'sent') replica.settleAll();
  }
  // Each of them has spent 1 of another budget.
  expect(all.reduce((sum, { settled, charged }) => sum + Math.max(settled, charged), 0)).toBe(100_000 + all.length);
  expect(await all[3]!.ask(budget, 1)).toBe('exceeded');
}, 120_000);

test('fewer than one in twenty requests waits where thirty replicas share many budgets far from their caps', () => {
  const { waits, waitsFar, overspent } = figuresOf(ruleOf('30, caps from 50 USD, standing credit'), 8, 0.05);
  expect([waits < 0.05, waitsFar < 0.05, overspent]).toEqual([true, true, 0]);
  // The comparison is one: leases alone make many wait.
  expect(figuresOf(ruleOf('30, caps from 50 USD, leases alone'), 8, 0.05).waits).toBeGreaterThan(0.1);
});
