import { AccountBook, type Account } from '../../../src/addons/budgets/limits/accounts.ts';
import { Leases } from '../../../src/addons/budgets/limits/leases.ts';
import { Reservations } from '../../../src/addons/budgets/limits/reservations.ts';
import type { Boot, Counters } from '../../../src/core/ports/counters.ts';
import type { Budget } from '../../../src/core/tenants/tree.ts';
import type { FakeClock } from '../../../src/plugin/testing/index.ts';
import type { FleetStore } from './fleet-store.ts';

export type Answer = 'sent' | 'exceeded' | 'unavailable';

interface Sent {
  readonly account: Account;
  readonly reserve: number;
  readonly cost: number;
}

interface ReplicaSetup {
  readonly store: FleetStore;
  readonly clock: FakeClock;
  readonly number: number;
  /** Milliseconds of each way between replica and store. */
  readonly latency: () => number;
  /** Percent. */
  readonly draw: () => number;
}

/** A replica of the gateway with its real leases. It knows what its requests will cost. */
export class Replica {
  /** `loses`: percent of the answers that do not arrive, although the store has done what they tell. */
  readonly line = { dead: false, broken: false, loses: 0 };
  readonly inFlight = new Map<number, Sent>();
  readonly boot: Boot;
  readonly book: AccountBook;
  readonly leases: Leases;
  /** Cost beyond the reserve of requests that were admitted without room while the store was away. */
  whileDown = 0;
  settled = 0;
  readonly #setup: ReplicaSetup;
  readonly #reservations: Reservations;
  readonly #accounts = new Set<Account>();
  /** The cost of each account's requests in flight beyond their reserves, when the replica reserved last. */
  readonly #excess = new Map<Account, number>();
  #last = 0;

  constructor(setup: ReplicaSetup) {
    const { clock, number } = setup;
    this.#setup = setup;
    this.boot = {
      id: String(number).padStart(32, '0'),
      host: 'test',
      role: 'single',
      version: '0',
      configHash: '',
      startedAt: 0,
    };
    this.leases = new Leases({
      counters: this.#counters(),
      boot: this.boot,
      clock,
      onStore() {},
      onLost() {},
    });
    this.book = new AccountBook(this.leases);
    this.#reservations = new Reservations(this.leases);
    this.leases.start(this.book);
  }

  /** Reserves and sends, or says why not. */
  send(
    budget: Budget,
    {
      reserve,
      cost,
      since,
      whileDown = false,
    }: { readonly reserve: number; readonly cost: number; readonly since?: number; readonly whileDown?: boolean },
  ): Answer {
    const account = this.book.at(budget, this.#setup.clock.wall());
    const request = { accounts: [account], amounts: { usd: reserve, tokens: 0 }, until: Infinity };
    const hold = (this.#last += 1);
    let refusal = this.#reservations.reserve({ ...request, hold, since });
    if (refusal?.why === 'unavailable' && whileDown && this.leases.isDown) {
      refusal = this.#reservations.reserve({ ...request, hold, whileDown: true });
      if (!refusal) this.whileDown += cost;
    }
    if (refusal) return refusal.why;
    this.#accounts.add(account);
    this.inFlight.set(hold, { account, reserve, cost });
    let excess = 0;
    for (const one of this.inFlight.values())
      if (one.account === account) excess += Math.max(0, one.cost - one.reserve);
    this.#excess.set(account, excess);
    return 'sent';
  }

  /** `send`, which waits for the store once. */
  async ask(budget: Budget, reserve: number, cost = reserve): Promise<Answer> {
    const first = this.send(budget, { reserve, cost });
    if (first !== 'unavailable') return first;
    const { clock } = this.#setup;
    const since = clock.now();
    const answered = this.leases.answered(250);
    await clock.advance(250);
    await answered;
    return this.send(budget, { reserve, cost, since });
  }

  settle(hold: number): void {
    const sent = this.inFlight.get(hold);
    if (!sent) return;
    this.inFlight.delete(hold);
    this.settled += sent.cost;
    this.#reservations.settle(hold, { usd: sent.cost, tokens: 0 });
  }

  /** Nothing was sent: the requests in flight cost nothing. */
  release(): void {
    for (const hold of this.inFlight.keys()) this.#reservations.release(hold);
    this.inFlight.clear();
  }

  settleAll(): void {
    for (const hold of this.inFlight.keys()) this.settle(hold);
  }

  /** The charge of the provider: a request in flight when the process dies is charged, too. */
  get charged(): number {
    let sum = this.settled;
    for (const { cost } of this.inFlight.values()) sum += cost;
    return sum;
  }

  get excess(): number {
    let sum = 0;
    for (const one of this.#excess.values()) sum += one;
    return sum;
  }

  /** What the next owner of the spool of a dead replica does: its accounts have what was settled, and what was sent at its reserve. */
  async replaySpool(): Promise<void> {
    const { store } = this.#setup;
    const { boot } = this;
    for (const account of this.#accounts) {
      if (account.returned) continue;
      const open = [...this.inFlight.values()].filter((sent) => sent.account === account);
      const total = account.used + open.reduce((sum, { reserve }) => sum + reserve, 0);
      const { lease, budget, span } = account;
      if (lease !== 0) {
        await store.run((counters) => counters.report([{ lease, usedTotal: total }], boot));
        await store.run((counters) => counters.giveBack([lease], boot));
      } else if (total > 0) {
        const id = `spool/${boot.id}/${[...this.#accounts].indexOf(account)}`;
        const adjustment = { id, node: budget.id, period: span.start, of: 'spent', by: total, why: 'spool' } as const;
        await store.run((counters) => counters.adjust(adjustment, { id: 'gatehouse', role: 'system' }), {
          adds: total,
        });
      }
    }
    const last = Math.max(0, ...[...this.#accounts].map(({ lease }) => lease));
    await store.run((counters) => counters.giveBack([], boot, last));
  }

  #counters(): Pick<Counters, 'take' | 'report' | 'giveBack'> {
    const { store } = this.#setup;
    return {
      take: (requests, by, batch, credit) =>
        this.#over(() =>
          store.run((counters) => counters.take(requests, by, batch, credit), {
            by: credit && { boot: by.id, parts: credit.parts },
          }),
        ),
      report: (used, by) => this.#over(() => store.run((counters) => counters.report(used, by))),
      giveBack: (leases, by, last) => this.#over(() => store.run((counters) => counters.giveBack(leases, by, last))),
    };
  }

  async #over<Result>(question: () => Promise<Result>): Promise<Result> {
    const { clock, latency, draw } = this.#setup;
    const { line } = this;
    await clock.sleep(latency());
    if (line.dead) return new Promise(() => {});
    if (line.broken) throw new Error('the store does not answer');
    const answer = await question();
    await clock.sleep(latency());
    if (line.dead) return new Promise(() => {});
    if (line.broken || draw() < line.loses) throw new Error('the answer of the store is lost');
    return answer;
  }
}
