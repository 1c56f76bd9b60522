import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountBook, type Account } from '../../src/addons/budgets/limits/accounts.ts';
import { budgetOf } from '../../src/addons/budgets/limits/budgets.testkit.ts';
import { Leases } from '../../src/addons/budgets/limits/leases.ts';
import { Reservations } from '../../src/addons/budgets/limits/reservations.ts';
import { storeRules } from '../../src/addons/budgets/store/rules/store-rules.ts';
import { readAddress, type DatabaseAddress } from '../../src/addons/postgres/settings/address.ts';
import { openPostgresStore } from '../../src/addons/postgres/store/state-store.ts';
import { newBoot } from '../../src/core/ports/boot.ts';
import type { StateStore } from '../../src/core/ports/store.ts';
import type { Budget } from '../../src/core/tenants/tree.ts';
import type { Clock } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../support/postgres.ts';

const CAP = 1_000_000_000;
const BUDGETS = Array.from({ length: 2 }, (_, at) => budgetOf(CAP, { ref: `team:t${at}` }));
/** An answer stays fresh for ten times as long: the machine may be that slow. */
const clock: Clock = { ...systemClock, now: () => systemClock.now() / 10 };
const missing = postgresMissing();
let postgres: TestPostgres;

beforeAll(async () => {
  if (missing === undefined) postgres = await startPostgres();
}, 300_000);
afterAll(() => postgres?.end());

const openStore = (): Promise<StateStore> =>
  openPostgresStore({
    pg,
    address: readAddress(postgres.url()) as DatabaseAddress,
    ca: undefined,
    patience: 20,
    schema: 'raced',
    connections: 4,
    listen: false,
    keys: '',
    rules: storeRules,
    clock: systemClock,
  });

/** The leases of one gateway. It knows what its requests will cost. */
class Racer {
  readonly store: StateStore;
  /** For each budget: the cost of requests in flight beyond their reserves, when the gateway reserved last. */
  readonly excess = new Map<Budget, number>();
  readonly refused = new Set<Budget>();
  spent = new Map<Budget, number>();
  withoutLease = 0;
  readonly #leases: Leases;
  readonly #book: AccountBook;
  readonly #reservations: Reservations;
  readonly #inFlight = new Map<number, { readonly budget: Budget; readonly beyond: number }>();
  #last = 0;

  constructor(store: StateStore) {
    this.store = store;
    this.#leases = new Leases({
      counters: store.counters,
      boot: newBoot('single', systemClock),
      clock,
      onStore() {},
      onLost() {},
    });
    this.#book = new AccountBook(this.#leases);
    this.#reservations = new Reservations(this.#leases);
    this.#leases.start(this.#book);
  }

  /** Asks for room of one budget until it has standing credit, and then sends a request of another budget, which has no lease. */
  async begin(of: Budget, fresh: Budget): Promise<void> {
    while (this.#leases.credit(this.#accountOf(fresh), 1_000_000) === 0) {
      await this.#ask(of, 1, 1);
      await sleep(5);
    }
    await this.#ask(fresh, 1_000_000, 1_000_000);
  }

  #accountOf(budget: Budget): Account {
    return this.#book.at(budget, systemClock.wall());
  }

  /** Requests one after the other, until `isOver`. Each may cost up to twice its reserve. */
  async spend(budgets: readonly Budget[], isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const budget = budgets[Math.floor(Math.random() * budgets.length)]!;
      const reserve = 2_000_000 + Math.floor(Math.random() * 10_000_000);
      const cost = Math.floor(reserve * Math.random() * (Math.random() < 0.3 ? 2 : 1));
      await this.#ask(budget, reserve, cost);
      await sleep(2);
    }
  }

  async close(): Promise<void> {
    while (this.#inFlight.size > 0) await sleep(5);
    await this.#leases.close();
  }

  async #ask(budget: Budget, reserve: number, cost: number): Promise<void> {
    const hold = (this.#last += 1);
    const since = clock.now();
    const attempt = (more: { readonly since?: number }) => {
      const account = this.#accountOf(budget);
      const amounts = { usd: reserve, tokens: 0 };
      return {
        account,
        refusal: this.#reservations.reserve({ hold, accounts: [account], amounts, until: Infinity, ...more }),
      };
    };
    let { account, refusal } = attempt({});
    if (refusal?.why === 'unavailable') {
      await this.#leases.answered(5_000);
      ({ account, refusal } = attempt({ since }));
    }
    if (refusal?.why === 'exceeded') this.refused.add(budget);
    if (!refusal) this.#sent(account, { hold, reserve, cost });
  }

  #sent(
    account: Account,
    { hold, reserve, cost }: { readonly hold: number; readonly reserve: number; readonly cost: number },
  ): void {
    const { budget } = account;
    if (account.lease === 0) this.withoutLease += 1;
    this.#inFlight.set(hold, { budget, beyond: Math.max(0, cost - reserve) });
    const own = [...this.#inFlight.values()].filter((one) => one.budget === budget);
    this.excess.set(
      budget,
      own.reduce((sum, { beyond }) => sum + beyond, 0),
    );
    this.spent.set(budget, (this.spent.get(budget) ?? 0) + cost);
    setTimeout(() => {
      this.#inFlight.delete(hold);
      this.#reservations.settle(hold, { usd: cost, tokens: 0 });
    }, Math.random() * 100);
  }
}

describe.skipIf(missing !== undefined)(
  `budgets that three gateways race for${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    it('of 1 USD each are exceeded by no more than the formula, with standing credit', async () => {
      const racers = [new Racer(await openStore()), new Racer(await openStore()), new Racer(await openStore())];
      const until = performance.now() + 200_000;
      const isOver = (): boolean =>
        performance.now() > until || racers.every(({ refused }) => refused.size === BUDGETS.length);
      // They get their credit with a budget of another node.
      const other = budgetOf(CAP, { ref: 'team:other' });
      await Promise.all(racers.map((racer, at) => racer.begin(other, budgetOf(CAP, { ref: `team:first-${at}` }))));
      for (const { withoutLease } of racers) expect(withoutLease).toBeGreaterThan(0);
      await Promise.all(racers.flatMap((racer) => [0, 1, 2].map(() => racer.spend(BUDGETS, isOver))));
      for (const racer of racers) await racer.close();
      const states = await racers[0]!.store.counters.read(BUDGETS.map(({ id }) => ({ node: id, period: 0 })));
      const figures = BUDGETS.map((budget, at) => {
        const sumOf = (of: (racer: Racer) => Map<Budget, number>): number =>
          racers.reduce((sum, racer) => sum + (of(racer).get(budget) ?? 0), 0);
        const [charged, allowed] = [sumOf(({ spent }) => spent), sumOf(({ excess }) => excess)];
        const { spent, leased, unreconciled } = states[at]!;
        return { charged, allowed, spent, leased, unreconciled, beyond: Math.max(0, charged - CAP - allowed) };
      });
      for (const one of figures)
        expect(one).toMatchObject({ spent: one.charged, leased: 0, unreconciled: 0, beyond: 0 });
      // It was a race.
      for (const { refused } of racers) expect(refused.size).toBe(BUDGETS.length);
      for (const { store } of racers) await store.close();
    }, 240_000);
  },
);
