import { parseArgs } from 'node:util';
import { Pace, wantOf } from '../../../src/addons/budgets/limits/lease-size.ts';
import { freeOf, takenOf } from '../../../src/addons/budgets/store/rules/credit.ts';
import { CREDIT_PARTS, creditOf, type CounterState } from '../../../src/core/ports/counters.ts';
import type { CreditBoot, CreditTables } from '../../../src/core/ports/store-rules.ts';
import { numbers } from './simulation.ts';

// The counters of a large fleet on paper: each replica's leases of each budget, with the sizes of leases and the rules of credit of the
// gateway, but without processes, messages and failures. One line for each of the rules that were compared.

interface Rule {
  readonly name: string;
  readonly replicas: number;
  /** In USD. */
  readonly leastCap: number;
  readonly hasCredit?: true;
  /** Leases are sized by the replicas that have one, not by all. */
  readonly byHolders?: true;
  /** Replicas that serve one key. */
  readonly replicasOfKey?: number;
  /** Seconds after which an idle lease goes back. */
  readonly idle: number;
}

const RULES: readonly Rule[] = [
  { name: '3, caps from 0.3 USD, leases alone', replicas: 3, leastCap: 0.3, idle: 10 },
  { name: '30, caps from 50 USD, leases alone', replicas: 30, leastCap: 50, idle: 10 },
  { name: '30, caps from 50 USD, standing credit', replicas: 30, leastCap: 50, idle: 60, hasCredit: true },
  { name: '1,000, caps from 50 USD, leases alone', replicas: 1000, leastCap: 50, idle: 10 },
  { name: '1,000, caps from 50 USD, holders instead of live', replicas: 1000, leastCap: 50, idle: 10, byHolders: true },
  {
    name: '1,000, caps from 50 USD, 4 replicas for each key',
    replicas: 1000,
    leastCap: 50,
    idle: 60,
    replicasOfKey: 4,
  },
  { name: '1,000, caps from 50 USD, standing credit', replicas: 1000, leastCap: 50, idle: 60, hasCredit: true },
];

const BUDGETS = 100_000;
const REQUESTS_A_SECOND = 20_000;
const USD = 1e9;
const MEAN_COST = 0.01 * USD;
/** Seconds that a request takes. */
const REQUEST_S = 2;
/** A lease of a nearly full budget goes back earlier. */
const IDLE_NEAR = 10;
const NEAR = 0.2;
const NOON = Date.UTC(2026, 10, 22, 12);

interface Pair {
  readonly budget: number;
  readonly pace: Pace;
  granted: number;
  used: number;
  held: number;
  reported: number;
  grant: number;
  idle: number;
  isTouched: boolean;
  free: number;
  askAgainAt: number;
}

export interface Figures {
  readonly name: string;
  /** Calls of a take and of covers, for each request. */
  readonly takes: number;
  /** Requests that waited for an answer of the store, and those of them whose budget was far from its cap. */
  readonly waits: number;
  readonly waitsFar: number;
  readonly pairs: number;
  /** The share that was left of budgets that refused a request. */
  readonly unspent: number;
  /** Nano-USD beyond the cap, at most. Requests cost less than their reserve: 0. */
  readonly overspent: number;
}

/** @param share of the budgets and requests, to try it with fewer */
export function figuresOf(rule: Rule, seconds: number, share = 1): Figures {
  return new Scale(rule, seconds, share).run();
}

class Scale {
  readonly #rule: Rule;
  readonly #seconds: number;
  readonly #requests: number;
  readonly #below = numbers(7);
  readonly #counters: CounterState[];
  readonly #caps: Float64Array;
  readonly #popular: Float64Array;
  readonly #holders: Uint16Array;
  readonly #hasRefused: Uint8Array;
  readonly #replicas: Map<number, Pair>[];
  readonly #tables: { readonly credit?: CreditTables; saveCounter(row: CounterState): void };
  readonly #boots: CreditBoot[];
  readonly #indexes = new Map<string, number>();
  readonly #ends: { readonly pair: Pair; readonly reserve: number; readonly cost: number }[][];
  #change = 0;
  #second = 0;
  #sent = 0;
  #takes = 0;
  #waits = 0;
  #waitsFar = 0;
  #pairs = 0;
  #mostPairs = 0;

  constructor(rule: Rule, seconds: number, share: number) {
    this.#rule = rule;
    this.#seconds = seconds;
    this.#requests = Math.floor(REQUESTS_A_SECOND * share);
    const budgets = Math.floor(BUDGETS * share);
    this.#popular = zipf(budgets);
    this.#caps = Float64Array.from({ length: budgets }, (_, at) => this.#capOf(at));
    this.#counters = Array.from({ length: budgets }, (_, at) => counterOf(at));
    this.#counters.forEach(({ node }, at) => this.#indexes.set(node, at));
    this.#holders = new Uint16Array(budgets);
    this.#hasRefused = new Uint8Array(budgets);
    this.#replicas = Array.from({ length: rule.replicas }, () => new Map());
    this.#ends = Array.from({ length: seconds + REQUEST_S + 1 }, () => []);
    const parts = Math.floor(CREDIT_PARTS / rule.replicas);
    this.#boots = Array.from({ length: rule.replicas }, (_, at) => ({ id: String(at), parts, knows: 0, seenAt: NOON }));
    this.#tables = {
      saveCounter: (row) => void (this.#counters[this.#indexes.get(row.node)!] = row),
      ...(rule.hasCredit && { credit: this.#creditTables() }),
    };
  }

  run(): Figures {
    for (; this.#second < this.#seconds; this.#second++) {
      for (let at = 0; at < this.#requests; at++) this.#request();
      for (const { pair, reserve, cost } of this.#ends[this.#second]!) {
        pair.held -= reserve;
        pair.used += cost;
      }
      for (const pairs of this.#replicas) this.#report(pairs);
      // Each replica has heard of all changes, and has covered what it used before.
      for (const [at, boot] of this.#boots.entries())
        this.#boots[at] = { ...boot, knows: this.#change, seenAt: this.#now };
    }
    return this.#figures();
  }

  get #now(): number {
    return NOON + this.#second * 1000;
  }

  /** One in ten budgets is used up in half of the time; the others are large enough. */
  #capOf(at: number): number {
    const use = (this.#popular[at]! - (this.#popular[at - 1] ?? 0)) * this.#requests * this.#seconds * MEAN_COST;
    return Math.floor(Math.max(this.#rule.leastCap * USD, use * (at % 10 === 0 ? 0.5 : 4)));
  }

  #request(): void {
    const budget = find(this.#popular, this.#below(2 ** 31) / 2 ** 31);
    const { replicas, replicasOfKey } = this.#rule;
    const replica = replicasOfKey
      ? (budget * 7919 + this.#below(replicasOfKey) * 250) % replicas
      : this.#below(replicas);
    const pair = this.#pairOf(this.#replicas[replica]!, budget);
    const reserve = Math.floor(MEAN_COST * (0.5 + this.#below(3000) / 1000));
    const cost = Math.floor(reserve / 2);
    this.#sent += 1;
    if (!this.#reserve(pair, reserve)) return;
    pair.held += reserve;
    pair.isTouched = true;
    this.#ends[this.#second + REQUEST_S]!.push({ pair, reserve, cost });
    const room = pair.granted - pair.used - pair.held;
    // More is asked for ahead, with credit once a second.
    if (room < reserve && !this.#rule.hasCredit) this.#take(pair, { need: 1, sum: reserve });
    else if (room < pair.grant / 2 && !this.#rule.hasCredit) this.#take(pair, { need: 1, sum: 1 });
  }

  /** False: refused. */
  #reserve(pair: Pair, reserve: number): boolean {
    const room = (): number => pair.granted - pair.used - pair.held;
    if (reserve <= room()) return true;
    const cap = this.#caps[pair.budget]!;
    const isTight = (this.#counters[pair.budget]!.tight?.since ?? 0) > 0;
    const credit = this.#rule.hasCredit && !isTight ? creditOf(cap, this.#boots[0]!.parts) : 0;
    if (reserve * 4 <= credit && reserve <= room() + credit) return true;
    const isKnownFull = this.#second < pair.askAgainAt && reserve > room() + pair.free;
    if (!isKnownFull) {
      this.#waits += 1;
      if (takenOf(this.#counters[pair.budget]!) < cap * (1 - NEAR)) this.#waitsFar += 1;
      this.#take(pair, { need: Math.max(1, reserve - Math.max(0, room())), sum: reserve });
    }
    if (reserve <= room()) return true;
    this.#hasRefused[pair.budget] = 1;
    return false;
  }

  #take(pair: Pair, { need, sum }: { readonly need: number; readonly sum: number }): void {
    const { budget, pace } = pair;
    if (this.#second < pair.askAgainAt && need > pair.free) return;
    this.#takes += 1;
    this.#cover(pair);
    const cap = this.#caps[budget]!;
    const live = this.#rule.byHolders
      ? Math.max(1, this.#holders[budget]!)
      : (this.#rule.replicasOfKey ?? this.#rule.replicas);
    const { ahead } = pace;
    const want = wantOf({ free: pair.free, live, need, sum, ahead, hard: true, isSlow: false });
    const free = Math.min(want, freeOf(this.#tables, this.#counters[budget]!, { cap, need, now: this.#now }));
    const granted = free < need ? 0 : Math.max(0, free);
    if (granted > 0) this.#grow(pair, granted);
    if (granted > 0) Object.assign(pair, { grant: granted, idle: 0 });
    else pair.askAgainAt = this.#second + 1;
    pair.free = Math.max(0, cap - takenOf(this.#counters[budget]!));
  }

  #cover(pair: Pair): void {
    const missing = pair.used + pair.held - pair.granted;
    if (missing > 0) this.#grow(pair, missing);
  }

  #grow(pair: Pair, amount: number): void {
    if (pair.granted === 0) {
      this.#holders[pair.budget]! += 1;
      this.#mostPairs = Math.max(this.#mostPairs, (this.#pairs += 1));
    }
    pair.granted += amount;
    const counter = this.#counters[pair.budget]!;
    this.#counters[pair.budget] = { ...counter, leased: counter.leased + amount };
  }

  /** Once a second. */
  #report(pairs: Map<number, Pair>): void {
    for (const pair of pairs.values()) {
      const { budget, used, held, granted } = pair;
      const cap = this.#caps[budget]!;
      pair.pace.note(used + held);
      const isOnCredit = used + held > granted;
      if (isOnCredit || (this.#rule.hasCredit && pair.isTouched && granted - used - held < pair.grant / 2))
        this.#take(pair, { need: 1, sum: 1 });
      if (used > pair.reported) this.#move(pair, used - pair.reported);
      pair.idle = pair.isTouched || held > 0 ? 0 : pair.idle + 1;
      pair.isTouched = false;
      const isNear = cap - takenOf(this.#counters[budget]!) < cap * NEAR;
      if (pair.idle > (isNear ? Math.min(IDLE_NEAR, this.#rule.idle) : this.#rule.idle)) this.#giveBack(pairs, pair);
    }
  }

  #move(pair: Pair, amount: number): void {
    const counter = this.#counters[pair.budget]!;
    pair.reported += amount;
    this.#counters[pair.budget] = { ...counter, spent: counter.spent + amount, leased: counter.leased - amount };
    pair.free = Math.max(0, this.#caps[pair.budget]! - takenOf(counter));
  }

  #giveBack(pairs: Map<number, Pair>, pair: Pair): void {
    pairs.delete(pair.budget);
    if (pair.granted === 0) return;
    this.#holders[pair.budget]! -= 1;
    this.#pairs -= 1;
    const counter = this.#counters[pair.budget]!;
    this.#counters[pair.budget] = { ...counter, leased: counter.leased - (pair.granted - pair.used) };
  }

  #pairOf(pairs: Map<number, Pair>, budget: number): Pair {
    let pair = pairs.get(budget);
    if (pair) return pair;
    pair = {
      budget,
      pace: new Pace(),
      granted: 0,
      used: 0,
      held: 0,
      reported: 0,
      grant: 0,
      idle: 0,
      isTouched: false,
      free: this.#caps[budget]!,
      askAgainAt: 0,
    };
    pairs.set(budget, pair);
    return pair;
  }

  #creditTables(): CreditTables {
    return {
      lock() {},
      boots: () => this.#boots,
      saveUse() {},
      lastChange: () => this.#change,
      saveLastChange: (change) => (this.#change = change),
      changedAfter: () => [],
    };
  }

  #figures(): Figures {
    let left = 0;
    let full = 0;
    let overspent = 0;
    for (const [at, cap] of this.#caps.entries()) {
      const { spent } = this.#counters[at]!;
      overspent = Math.max(overspent, spent - cap);
      if (!this.#hasRefused[at]) continue;
      full += cap;
      left += cap - spent;
    }
    return {
      name: this.#rule.name,
      takes: this.#takes / this.#sent,
      waits: this.#waits / this.#sent,
      waitsFar: this.#waitsFar / this.#sent,
      pairs: this.#mostPairs,
      unspent: full === 0 ? 0 : left / full,
      overspent,
    };
  }
}

const counterOf = (at: number): CounterState => ({
  node: `key:${at} day usd`,
  period: 0,
  spent: 0,
  leased: 0,
  unreconciled: 0,
  notified: 0,
});

/** The share of the requests for one of the first budgets, ascending to 1. */
function zipf(budgets: number): Float64Array {
  const sums = new Float64Array(budgets);
  let sum = 0;
  for (let at = 0; at < budgets; at++) sums[at] = sum += 1 / (at + 1);
  return sums.map((value) => value / sum);
}

function find(sums: Float64Array, value: number): number {
  let low = 0;
  let high = sums.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const percent = (value: number): string => `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`;

const lineOf = (figures: Figures): string =>
  [
    figures.name,
    figures.takes.toFixed(2),
    percent(figures.waits),
    percent(figures.waitsFar),
    figures.pairs.toLocaleString('en-US'),
    percent(figures.unspent),
    (figures.overspent / USD).toFixed(4),
  ].join(' | ');

export const ruleOf = (name: string): Rule => RULES.find((rule) => rule.name === name)!;

/** `node test/governance/credit/scale.ts [--seconds 60] [--limit 600]`: writes the table. No line begins after `limit` seconds. */
function main(): void {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '60' }, limit: { type: 'string', default: '600' } },
  });
  const until = performance.now() + Number(values.limit) * 1000;
  console.log(
    'replicas, rule | takes a request | requests that wait | far from the cap | pairs | left unspent | USD beyond a cap',
  );
  for (const rule of RULES) {
    if (performance.now() < until) console.log(lineOf(figuresOf(rule, Number(values.seconds))));
    else console.log(`${rule.name} | not within ${values.limit} s`);
  }
}

if (import.meta.main) main();
