import { budgetOf } from '../../../src/addons/budgets/limits/budgets.testkit.ts';
import { takenOf } from '../../../src/addons/budgets/store/rules/credit.ts';
import { CREDIT_SHARE } from '../../../src/core/ports/counters.ts';
import { createFakeClock, type FakeClock } from '../../../src/plugin/testing/index.ts';
import { FleetStore } from './fleet-store.ts';
import { Replica } from './replica.ts';

export interface Outcome {
  readonly replicas: number;
  /** The greatest difference between what was spent beyond the cap and what the formula admits. Not above 0. */
  readonly beyond: number;
  /** At the end. */
  readonly overspent: number;
  readonly excess: number;
  readonly lost: number;
  readonly whileDown: number;
  /** Requests that were sent, and those of them that were on standing credit. */
  readonly sent: number;
  readonly onCredit: number;
  readonly crashes: number;
  readonly failovers: number;
  readonly lowered: number;
}

/** Numbers that a seed determines (mulberry32). */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** A replica knows a new cap after this time at most; it may have asked by the old one until `ASKED_MS` later. */
const LEARN_MS = 1000;
const ASKED_MS = 4000;
const REAP_MS = 10_000;
const MAX_REPLICAS = 30;

/**
 * Replicas of a gateway spend one budget: they crash (and their spool is replayed, or lost with its disk), are cut off from the store,
 * lose its answers, stop and start; caps change, and the store fails over to a standby without the last transactions.
 */
export class Simulation {
  readonly #below: (below: number) => number;
  readonly #clock: FakeClock = createFakeClock();
  readonly #store: FleetStore;
  readonly #all: Replica[] = [];
  readonly #running: Replica[] = [];
  readonly #dead: Replica[] = [];
  readonly #latency: () => number;
  /** Caps by which replicas may have asked, with the time until which they may. The last one is in force. */
  readonly #caps: { readonly cap: number; until: number }[];
  /** The cap that each replica knows, by its index. */
  readonly #known = new Map<Replica, number>();
  readonly #admitsWhileDown: boolean;
  readonly #isFailing: boolean;
  readonly #isCalm: boolean;
  #underEstimated: number;
  readonly #unit: number;
  /** Caps by which replicas were asking, with the time until which their questions may be under way. */
  #asked: readonly { readonly cap: number; readonly until: number }[] = [];
  /** The highest of them at the last check. */
  #before = 0;
  /** What may be spent: the cap, or what was spent, leased and on credit when the last replica learned of a lower one. */
  #floor: number;
  /** Percent of the requests. */
  #largeOnes = 4;
  #beyond = -Infinity;
  #lost = 0;
  #sent = 0;
  #onCredit = 0;
  #crashes = 0;
  #failovers = 0;
  #lowered = 0;
  #reapAt = REAP_MS;

  constructor(seed: number) {
    const below = (this.#below = numbers(seed));
    this.#store = new FleetStore(this.#clock);
    const replicas = 2 + below(29);
    const cap = replicas * (400 + below(20_000));
    this.#caps = [{ cap, until: Infinity }];
    this.#floor = cap;
    // A request of which four fit into the credit of a replica uses it.
    this.#unit = Math.max(1, Math.floor((cap * CREDIT_SHARE) / replicas / 4));
    const slowest = below(5) === 0 ? 900 : 30;
    this.#latency = () => below(slowest);
    this.#underEstimated = below(4) === 0 ? 0 : 5 + below(86);
    // In one of three no disk is lost, the cap and the store stay, and only the last requests cost more than their reserve: what is spent can
    // reach the bound.
    this.#isCalm = seed % 3 === 0;
    if (this.#isCalm) this.#underEstimated = 0;
    this.#admitsWhileDown = !this.#isCalm && below(8) === 0;
    this.#isFailing = !this.#isCalm && below(5) === 0;
    for (let count = 0; count < replicas; count++) this.#start();
  }

  async run(steps = 220): Promise<Outcome> {
    const replicas = this.#running.length;
    // Far from the cap, credit is used; the runs are about what comes later.
    await this.#warmUp();
    for (let step = 0; step < steps; step++) {
      // Small requests use credit, large ones reach the cap.
      this.#largeOnes = step < steps / 2 ? 4 : 60;
      await this.#step();
      await this.#check();
    }
    for (const replica of this.#running) Object.assign(replica.line, { broken: false, loses: 0 });
    await this.#pass(3000);
    // Idle leases of a nearly full budget go back after ten seconds.
    for (const ms of [1500, 13_000, 1500]) {
      for (const replica of this.#running) this.#burst(replica, 8);
      await this.#check();
      await this.#pass(ms);
    }
    for (const replica of this.#running) replica.settleAll();
    while (this.#dead.length > 0) await this.#replay();
    await this.#pass(13_000);
    if (this.#isCalm) this.#underEstimated = 100;
    await this.#fill();
    const { charged, excess, whileDown } = this.#sums();
    return {
      replicas,
      beyond: this.#beyond,
      overspent: charged - this.#floor,
      excess,
      lost: this.#lost,
      whileDown,
      sent: this.#sent,
      onCredit: this.#onCredit,
      crashes: this.#crashes,
      failovers: this.#failovers,
      lowered: this.#lowered,
    };
  }

  /** Requests that are all in flight, of ever smaller sizes, until not even the smallest fits. */
  async #fill(): Promise<void> {
    for (let size = this.#unit * 8; size >= 1; size = size > 1 ? Math.ceil(size / 4) : 0)
      for (let idle = 0; idle < 4;) {
        const before = this.#sent;
        for (const replica of this.#running)
          this.#send(replica, { reserve: size, cost: this.#underEstimated > 0 ? size * 2 : size });
        await this.#pass(size > this.#unit ? 500 : 120);
        await this.#check();
        idle = this.#sent > before ? 0 : idle + 1;
      }
  }

  get #cap(): number {
    return this.#caps.at(-1)!.cap;
  }

  async #warmUp(): Promise<void> {
    for (const replica of this.#running) replica.send(budgetOf(this.#cap), { reserve: 1, cost: 1 });
    await this.#pass(4500);
    const large = Math.floor(this.#cap * (this.#below(55) / 100));
    if (large > 0) {
      await this.#running[0]!.ask(budgetOf(this.#cap), large);
      this.#running[0]!.settleAll();
    }
    await this.#pass(this.#below(3000));
    await this.#rush();
  }

  /** Every replica uses its whole credit, and some crash or are cut off. Then one asks for all that the store may still have. */
  async #rush(): Promise<void> {
    const size = Math.max(1, Math.floor(this.#unit * 0.9));
    for (const replica of this.#running.slice()) {
      for (let at = 0; at < 24; at++) this.#send(replica, { reserve: size, cost: size });
      for (let at = 0; at < 4; at++) this.#send(replica, { reserve: Math.ceil(size / 8), cost: Math.ceil(size / 8) });
      const fate = this.#below(12);
      if (fate === 0 && this.#running.length > 2) this.#crash(replica);
      if (fate === 1) replica.line.broken = true;
    }
    await this.#check();
    if (this.#below(3) === 0) await this.#pass(this.#below(12_000));
    const asking = this.#running.find(({ line }) => !line.broken);
    for (const share of asking ? [1, 0.9, 0.8, 0.7, 0.55, 0.4, 0.25, 0.12] : []) {
      const [counter] = await this.#store.counters.read([{ node: budgetOf(1).id, period: 0 }]);
      const reserve = Math.floor((this.#cap - takenOf(counter!)) * share);
      const before = this.#sent;
      for (let round = 0; round < 2 && this.#sent === before; round++) {
        if (reserve > 0) this.#send(asking!, { reserve, cost: reserve });
        await this.#pass(70);
        await this.#check();
      }
    }
  }

  async #step(): Promise<void> {
    const below = this.#below;
    const replica = this.#running[below(this.#running.length)];
    if (!replica) {
      this.#start();
      return;
    }
    const act = below(100);
    if (act < 46) this.#burst(replica, 1 + below(16));
    else if (act < 62) this.#settleSome(replica);
    else if (act < 80) await this.#pass(below(1400));
    else if (act < 84) replica.line.broken = !replica.line.broken;
    else if (act < 86) replica.line.loses = replica.line.loses > 0 ? 0 : below(90);
    else if (act < 87) await this.#store.run((counters) => counters.reap(replica.boot.id));
    else if (act < 90) this.#crash(replica);
    else if (act < 92) await this.#replay();
    else if (act < 94) await this.#stop(replica);
    else if (act < 96) this.#start();
    else if (act < 97 && !this.#isCalm) this.#changeCap();
    else if (act < 98 && this.#isFailing) await this.#failOver();
    else if (act < 99) await this.#rush();
    else await this.#pass(below(300));
  }

  #start(): void {
    if (this.#running.length >= MAX_REPLICAS) return;
    const replica = new Replica({
      store: this.#store,
      clock: this.#clock,
      number: this.#all.length + 1,
      latency: this.#latency,
      draw: () => this.#below(100),
    });
    this.#all.push(replica);
    this.#running.push(replica);
    this.#known.set(replica, this.#caps.length - 1);
  }

  #burst(replica: Replica, count: number): void {
    const below = this.#below;
    for (let at = 0; at < count; at++) {
      const isLarge = below(100) < this.#largeOnes;
      const reserve = 1 + below(isLarge ? this.#unit * 12 : this.#unit);
      const isUnder = below(100) < this.#underEstimated;
      const cost = isUnder ? Math.floor(reserve * (1 + below(90) / 100)) : reserve - below(Math.ceil(reserve / 4));
      this.#send(replica, { reserve, cost });
    }
  }

  #send(replica: Replica, amounts: { readonly reserve: number; readonly cost: number }): void {
    const budget = budgetOf(this.#capOf(replica));
    const account = replica.book.at(budget, this.#clock.wall());
    if (replica.send(budget, { ...amounts, whileDown: this.#admitsWhileDown }) !== 'sent') return;
    this.#sent += 1;
    if (account.room < 0) this.#onCredit += 1;
  }

  #settleSome(replica: Replica): void {
    const most = 1 + this.#below(10);
    for (const hold of [...replica.inFlight.keys()].slice(0, most)) replica.settle(hold);
  }

  async #pass(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    if (this.#clock.now() < this.#reapAt) return;
    this.#reapAt = this.#clock.now() + REAP_MS;
    await this.#store.run((counters) => counters.reap());
  }

  #remove(replica: Replica): void {
    this.#running.splice(this.#running.indexOf(replica), 1);
  }

  /** What was in flight is charged all the same. */
  #crash(replica: Replica): void {
    if (this.#isCalm) replica.settleAll();
    replica.line.dead = true;
    this.#crashes += 1;
    this.#remove(replica);
    // The disk of some is lost.
    if (this.#isCalm || this.#below(4) > 0) this.#dead.push(replica);
  }

  async #replay(): Promise<void> {
    await this.#dead.splice(this.#below(this.#dead.length), 1)[0]?.replaySpool();
  }

  async #stop(replica: Replica): Promise<void> {
    replica.settleAll();
    this.#remove(replica);
    const closing = { isClosed: false };
    void replica.leases.close().then(() => (closing.isClosed = true));
    while (!closing.isClosed) await this.#pass(500);
    // A spool stays if the store has not answered.
    replica.line.dead = true;
    this.#dead.push(replica);
  }

  #changeCap(): void {
    const cap = Math.floor((this.#cap * (60 + this.#below(70))) / 100);
    const now = this.#clock.now();
    if (cap < this.#cap) this.#lowered += 1;
    this.#caps.at(-1)!.until = now + LEARN_MS;
    this.#caps.push({ cap, until: Infinity });
  }

  /** Replicas learn of a new cap one after the other, and not while they are cut off. */
  #capOf(replica: Replica): number {
    const index = this.#known.get(replica)!;
    const learns = !replica.line.broken && (this.#below(3) === 0 || this.#caps[index]!.until < this.#clock.now());
    const next = learns ? this.#caps.length - 1 : index;
    this.#known.set(replica, next);
    if (next !== index) replica.book.use([budgetOf(this.#caps[next]!.cap)]);
    return this.#caps[next]!.cap;
  }

  async #failOver(): Promise<void> {
    this.#failovers += 1;
    this.#lost += await this.#store.failOver(1 + this.#below(12), Math.max(...this.#caps.map(({ cap }) => cap)));
  }

  #sums(): { readonly charged: number; readonly excess: number; readonly whileDown: number } {
    const sum = (of: (replica: Replica) => number): number => this.#all.reduce((total, one) => total + of(one), 0);
    return {
      charged: sum(({ charged }) => charged),
      excess: sum(({ excess }) => excess),
      whileDown: sum(({ whileDown }) => whileDown),
    };
  }

  /** The highest cap by which some replica may be asking now. */
  #inForce(): number {
    const now = this.#clock.now();
    const caps = new Set(this.#running.map((replica) => this.#caps[this.#known.get(replica)!]!.cap));
    const asking = [...caps].map((cap) => ({ cap, until: now + ASKED_MS }));
    this.#asked = [...this.#asked.filter(({ cap, until }) => until >= now && !caps.has(cap)), ...asking];
    return Math.max(this.#cap, ...this.#asked.map(({ cap }) => cap));
  }

  async #check(): Promise<void> {
    const inForce = this.#inForce();
    const { charged, excess, whileDown } = this.#sums();
    if (inForce < this.#before) {
      const [counter] = await this.#store.counters.read([{ node: budgetOf(1).id, period: 0 }]);
      const committed = Math.ceil(takenOf(counter!) + this.#before * CREDIT_SHARE);
      this.#floor = Math.max(inForce, Math.min(this.#floor, Math.max(charged, committed)));
    } else this.#floor = Math.max(this.#floor, inForce);
    this.#before = inForce;
    this.#beyond = Math.max(this.#beyond, charged - this.#floor - excess - this.#lost - whileDown);
  }
}

export const simulate = (seed: number): Promise<Outcome> => new Simulation(seed).run();
