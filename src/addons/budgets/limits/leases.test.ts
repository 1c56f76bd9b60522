import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { createFakeClock, type FakeClock } from '../../../plugin/testing/index.ts';
import type { Boot, Counters, CounterState } from '../../../core/ports/counters.ts';
import { MemoryCounters } from '../store/memory/counters.ts';
import { AccountBook, type Account } from './accounts.ts';
import { budgetOf } from './budgets.testkit.ts';
import { Leases } from './leases.ts';
import { Reservations } from './reservations.ts';
import type { Budget } from '../../../core/tenants/tree.ts';

const bootOf = (number: number): Boot => ({
  id: String(number).padStart(32, '0'),
  host: 'test',
  role: 'worker',
  version: '0',
  configHash: '',
  startedAt: 0,
});

/** A store of which a process may lose the answer, or that it may not reach. */
interface Line {
  dead: boolean;
  broken: boolean;
}

type Store = Counters;

const storeOf = (clock: FakeClock): Counters => new MemoryCounters(clock);

/** All counters of the store. */
async function rowsOf(store: Counters): Promise<readonly CounterState[]> {
  const rows: CounterState[] = [];
  for await (const part of store.all()) rows.push(...part);
  return rows;
}

/** The leases of a process call none of these. */
const unused = {
  reap: () => Promise.reject(new Error('not for leases')),
  adjust: () => Promise.reject(new Error('not for leases')),
  read: () => Promise.reject(new Error('not for leases')),
  notify: () => Promise.reject(new Error('not for leases')),
  forget: () => Promise.reject(new Error('not for leases')),
  async *all() {},
};

function through(store: Store, clock: FakeClock, line: Line, latency: () => number): Counters {
  const over = async <T>(question: () => Promise<T>): Promise<T> => {
    await clock.sleep(latency());
    if (line.dead) return new Promise(() => {});
    if (line.broken) throw new Error('the store does not answer');
    const answer = await question();
    await clock.sleep(latency());
    if (line.dead) return new Promise(() => {});
    return answer;
  };
  return {
    ...unused,
    take: (asks, by, batch) => over(() => store.take(asks, by, batch)),
    report: (used, by) => over(() => store.report(used, by)),
    giveBack: (leases, by) => over(() => store.giveBack(leases, by)),
  };
}

interface Sent {
  readonly account: Account;
  readonly reserve: number;
  readonly cost: number;
}

/** A process with leases; it knows what its requests will cost. */
class Process {
  readonly line: Line = { dead: false, broken: false };
  readonly inFlight = new Map<number, Sent>();
  /** The cost of each account's requests in flight beyond their reserves, when the process reserved last. */
  readonly excess = new Map<Account, number>();
  readonly book: AccountBook;
  readonly reservations: Reservations;
  readonly leases: Leases;
  settled = 0;
  lost = 0;
  readonly #clock: FakeClock;
  #last = 0;

  constructor(store: Store, clock: FakeClock, number: number, latency: () => number = () => 0) {
    this.#clock = clock;
    this.leases = new Leases({
      counters: through(store, clock, this.line, latency),
      boot: bootOf(number),
      clock,
      onStore: () => {},
      onLost: () => (this.lost += 1),
    });
    this.book = new AccountBook(this.leases);
    this.reservations = new Reservations(this.leases);
    this.leases.start(this.book);
  }

  /** Reserves and sends, or says why not. */
  send(budget: Budget, reserve: number, cost: number): 'sent' | 'exceeded' | 'unavailable' {
    const account = this.book.at(budget, this.#clock.wall());
    const hold = (this.#last += 1);
    const refusal = this.reservations.reserve({
      hold,
      accounts: [account],
      amounts: { usd: reserve, tokens: 0 },
      until: Infinity,
    });
    if (refusal) return refusal.why;
    this.inFlight.set(hold, { account, reserve, cost });
    const own = [...this.inFlight.values()].filter((one) => one.account === account);
    this.excess.set(
      account,
      own.reduce((sum, one) => sum + Math.max(0, one.cost - one.reserve), 0),
    );
    return 'sent';
  }

  /** `send`, which waits for the store once. */
  async ask(budget: Budget, reserve: number, cost: number): Promise<'sent' | 'exceeded' | 'unavailable'> {
    const first = this.send(budget, reserve, cost);
    if (first !== 'unavailable') return first;
    const answered = this.leases.answered(250);
    await this.#clock.advance(250);
    await answered;
    return this.send(budget, reserve, cost);
  }

  settle(hold: number): void {
    const sent = this.inFlight.get(hold);
    if (!sent) return;
    this.inFlight.delete(hold);
    this.settled += sent.cost;
    this.reservations.settle(hold, { usd: sent.cost, tokens: 0 });
  }

  settleAll(): void {
    for (const hold of this.inFlight.keys()) this.settle(hold);
  }

  /** The charge of the provider: a request in flight when the process dies is charged, too. */
  get charged(): number {
    return this.settled + [...this.inFlight.values()].reduce((sum, { cost }) => sum + cost, 0);
  }

  get allowed(): number {
    return [...this.excess.values()].reduce((sum, one) => sum + one, 0);
  }
}

/** Numbers that a seed determines (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

interface Outcome {
  readonly overspent: number;
  readonly allowed: number;
  readonly sent: number;
  readonly lost: number;
  readonly crashes: number;
}

/**
 * Processes race for one budget: they crash and start anew, lose the store, freeze until their lease is lost, and their requests cost
 * up to 90 % more than their reserves.
 */
async function simulate(seed: number, slowest: number): Promise<Outcome> {
  const below = numbers(seed);
  const clock = createFakeClock();
  const store = storeOf(clock);
  const budget = budgetOf(2000 + below(10_000));
  const underEstimated = 5 + below(86);
  const latency = (): number => below(slowest);
  const all: Process[] = [];
  const start = (): Process => {
    const process = new Process(store, clock, all.length + 1, latency);
    all.push(process);
    return process;
  };
  const running = Array.from({ length: 2 + below(6) }, start);
  let sent = 0;
  let crashes = 0;
  for (let step = 0; step < 160; step++) {
    const at = below(running.length);
    const process = running[at]!;
    const act = below(100);
    if (act < 60) {
      const reserve = 50 + below(450);
      const isUnder = below(100) < underEstimated;
      const cost = isUnder ? Math.floor(reserve * (1 + below(90) / 100)) : below(reserve);
      if (process.send(budget, reserve, cost) === 'sent') sent += 1;
    } else if (act < 82) {
      const [hold] = process.inFlight.keys();
      if (hold !== undefined) process.settle(hold);
    } else if (act < 95) await clock.advance(below(1200));
    else if (act < 97) process.line.broken = !process.line.broken;
    else if (act === 97) {
      // The store gives the process up, which does not know it.
      await store.reap(bootOf(all.indexOf(process) + 1).id);
    } else {
      process.line.dead = true;
      crashes += 1;
      await store.reap(bootOf(all.indexOf(process) + 1).id);
      running[at] = start();
    }
  }
  const sum = (of: (process: Process) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    overspent: sum((one) => one.charged) - budget.amount,
    allowed: sum((one) => one.allowed),
    sent,
    lost: sum((one) => one.lost),
    crashes,
  };
}

test('what is spent exceeds a cap by no more than the requests in flight cost beyond their reserves', async () => {
  const outcomes: Outcome[] = [];
  for (let seed = 1; seed <= 200; seed++) {
    // Each fifth store is slow.
    const outcome = await simulate(seed, seed % 5 === 0 ? 1500 : 40);
    expect(outcome.overspent, `seed ${seed}`).toBeLessThanOrEqual(outcome.allowed);
    outcomes.push(outcome);
  }
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
  // The runs reach what the bound is about.
  expect(outcomes.filter(({ overspent }) => overspent > 0).length).toBeGreaterThan(40);
  expect(sum(({ crashes }) => crashes)).toBeGreaterThan(100);
  expect(sum(({ lost }) => lost)).toBeGreaterThan(50);
}, 120_000);

const START = createFakeClock().wall();

describe('several processes', () => {
  test('spend the last cent of a budget between them', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const budget = budgetOf(10_000);
    const processes = [1, 2, 3, 4].map((number) => new Process(store, clock, number));
    for (let round = 0; round < 400; round++) {
      const process = processes[round % 4]!;
      await process.ask(budget, 7, 7);
      process.settleAll();
    }
    await clock.advance(2000);
    // 10,000 is 1428 times 7, and 4. Parts of it lie in slices that are too small for another request, until those go back.
    await clock.advance(15_000);
    for (const process of processes) while ((await process.ask(budget, 7, 7)) === 'sent') process.settleAll();
    expect(processes.reduce((sum, { settled }) => sum + settled, 0)).toBe(9996);
    await clock.advance(15_000);
    expect(await processes[2]!.ask(budget, 4, 4)).toBe('sent');

    expect(await processes[0]!.ask(budget, 1, 1)).toBe('exceeded');
  });

  test('give back what they have not used when they stop', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const budget = budgetOf(1_000_000);
    const process = new Process(store, clock, 1);
    await process.ask(budget, 10, 9);
    process.settleAll();
    const closed = process.leases.close();
    await clock.advance(100);
    await closed;
    expect(await rowsOf(store)).toMatchObject([{ spent: 9, leased: 0, unreconciled: 0 }]);
  });

  test('have a counter for each period, whatever their clocks say later', async () => {
    // The second day of the year begins in an hour.
    const clock = createFakeClock(START + 23 * 3_600_000);
    const store = storeOf(clock);
    const budget = budgetOf(100, { period: 'day' });
    const process = new Process(store, clock, 1);
    expect([await process.ask(budget, 60, 60), await process.ask(budget, 60, 60)]).toEqual(['sent', 'exceeded']);
    await clock.advance(3_600_000);
    expect(await process.ask(budget, 60, 60)).toBe('sent');
    // The first day's request ends on the second day.
    process.settleAll();
    await clock.advance(2000);
    const rows = await rowsOf(store);
    expect(rows.map(({ period, spent }) => [period - START, spent])).toEqual([
      [0, 60],
      [86_400_000, 60],
    ]);
    expect(rows[0]!.leased).toBe(0);
  });
});

describe('a process without its store', () => {
  test('spends what it has leased, and then nothing', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const budget = budgetOf(100_000);
    const process = new Process(store, clock, 1);
    expect(await process.ask(budget, 100, 100)).toBe('sent');
    process.line.broken = true;
    let sent = 0;
    while ((await process.ask(budget, 100, 100)) === 'sent') sent += 1;
    expect(sent).toBeGreaterThan(0);
    expect(await process.ask(budget, 100, 100)).toBe('unavailable');
    expect(process.charged).toBeLessThanOrEqual((await rowsOf(store))[0]!.leased);
    process.line.broken = false;
    await clock.advance(2000);
    expect(await process.ask(budget, 100, 100)).toBe('sent');
  });
});

describe('a slow store', () => {
  const CAP = 1_000_000;
  const started = (clock: FakeClock, store: Store, number = 1): Process => new Process(store, clock, number, () => 400);
  const burst = (process: Process): readonly string[] =>
    Array.from({ length: 200 }, () => process.send(budgetOf(CAP), 100, 100));
  const ALL_SENT = Array.from({ length: 200 }, () => 'sent');

  test.each([0, 30, 100, 250])('leaves a key that was used once room for a burst %i s later', async (seconds) => {
    const clock = createFakeClock();
    const process = started(clock, storeOf(clock));
    process.send(budgetOf(CAP), 100, 100);
    await clock.advance(3000);
    expect(process.send(budgetOf(CAP), 100, 100)).toBe('sent');
    process.settleAll();
    await clock.advance(seconds * 1000);
    expect(burst(process)).toEqual(ALL_SENT);
  });

  test('gets all idle room back after five minutes without requests', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const process = started(clock, store);
    process.send(budgetOf(CAP), 100, 100);
    await clock.advance(250_000);
    expect((await rowsOf(store))[0]!.leased).toBeGreaterThan(CAP / 10);
    await clock.advance(80_000);
    expect((await rowsOf(store))[0]!.leased).toBe(0);
  });

  test('gets idle room back early where others need it', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const [idle, busy] = [started(clock, store), started(clock, store, 2)];
    idle.send(budgetOf(CAP), 100, 100);
    await clock.advance(3000);
    expect((await rowsOf(store))[0]!.leased).toBeGreaterThan(CAP / 10);
    let last = '';
    for (let round = 0; round < 400 && last !== 'exceeded'; round++) {
      while ((last = busy.send(budgetOf(CAP), 5000, 5000)) === 'sent');
      busy.settleAll();
      await clock.advance(2000);
    }
    expect(busy.settled).toBe(CAP);
    expect(clock.now()).toBeLessThan(120_000);
  });

  test('makes no request wait for longer than it asks for', async () => {
    const clock = createFakeClock();
    const process = started(clock, storeOf(clock));
    let isOver = false;
    process.send(budgetOf(CAP), 100, 100);
    void process.leases.answered(250).then(() => (isOver = true));
    await clock.advance(249);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(isOver).toBe(true);
    await clock.advance(1000);
    expect(process.send(budgetOf(CAP), 100, 100)).toBe('sent');
  });
});

describe('a process whose event loop is stalled', () => {
  test('reads the answer of the store before it gives up a wait', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const stalled = Promise.withResolvers<void>();
    const counters: Counters = {
      ...unused,
      // The answer comes during the stall. Node reads it after the timers of that turn.
      take: (asks, by, batch) =>
        stalled.promise.then(() => new Promise(setImmediate)).then(() => store.take(asks, by, batch)),
      report: (used, by) => store.report(used, by),
      giveBack: (leases, by) => store.giveBack(leases, by),
    };
    const leases = new Leases({ counters, boot: bootOf(1), clock: systemClock, onStore() {}, onLost() {} });
    const book = new AccountBook(leases);
    const account = book.at(budgetOf(1_000_000), 0);
    expect(leases.short(account, 100, undefined)).toBe(true);
    const answered = leases.answered(250);
    await new Promise(setImmediate);
    setImmediate(() => {
      stalled.resolve();
      for (const until = performance.now() + 300; performance.now() < until;);
    });
    await answered;
    expect(account.room).toBeGreaterThanOrEqual(100);
    await leases.close();
  });
});

describe('a budget that only warns', () => {
  test('is counted beyond its cap', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const budget = budgetOf(100, { hard: false });
    const process = new Process(store, clock, 1);
    for (let at = 0; at < 5; at++) expect(process.send(budget, 60, 60)).toBe('sent');
    process.settleAll();
    await clock.advance(3000);
    expect((await rowsOf(store))[0]!.spent).toBe(300);
  });
});

test('a lower cap refuses what it does not cover, and a higher one admits it', async () => {
  const clock = createFakeClock();
  const store = storeOf(clock);
  const process = new Process(store, clock, 1);
  expect(await process.ask(budgetOf(1000), 400, 400)).toBe('sent');
  process.settleAll();
  process.book.use([budgetOf(500)]);
  await clock.advance(2000);
  expect(await process.ask(budgetOf(500), 200, 200)).toBe('exceeded');
  process.book.use([budgetOf(700)]);
  await clock.advance(2000);
  expect(await process.ask(budgetOf(700), 200, 200)).toBe('sent');
});

describe('a process has one lease of a counter', () => {
  const spentOf = async (store: Counters): Promise<number> =>
    (await rowsOf(store)).reduce((sum, { spent, leased }) => sum + spent + leased, 0);

  test.each([0, 60, 120, 500])('and loses no cent when it spends %i ms after an idle slice goes back', async (ms) => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const budget = budgetOf(100_000);
    const process = new Process(store, clock, 1, () => 25);
    await process.ask(budget, 100, 100);
    process.settleAll();
    await clock.advance(61_900 + ms - clock.now());
    for (let at = 0; at < 20; at++) {
      process.send(budget, 100, 100);
      await clock.advance(10);
    }
    process.settleAll();
    const closed = process.leases.close();
    await clock.advance(10_000);
    await closed;
    expect(await spentOf(store)).toBe(process.settled);
  });

  test('and none when its cap changes while requests are in flight', async () => {
    const clock = createFakeClock();
    const store = storeOf(clock);
    const process = new Process(store, clock, 1);
    expect(await process.ask(budgetOf(1000), 100, 100)).toBe('sent');
    process.book.use([budgetOf(900)]);
    while ((await process.ask(budgetOf(900), 100, 100)) === 'sent');
    process.settleAll();
    expect(process.settled).toBe(900);
    const closed = process.leases.close();
    await clock.advance(1000);
    await closed;
    expect(await spentOf(store)).toBe(900);
  });
});
