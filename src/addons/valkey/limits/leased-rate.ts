import type { Rate } from '../../../core/tenants/amounts.ts';
import { PAUSE_MS, type Leased, type Lessor } from './leased.ts';

/** A bucket holds what its rate allows in this time, as in limits/gcra.ts of budgets. */
const BURST_MS = 10_000;
const SECOND_MS = 1000;
/** Answers that are older say nothing about what is left. */
const KNOWN_MS = 2000;
const ROUNDING = 1e-6;

/** Units that were moved from here into a question. */
interface Sent {
  readonly used: number;
  readonly corrected: number;
  /** Units for the next second, beyond those for requests that wait. */
  readonly ahead: number;
}

/**
 * A rate that all processes share. This one holds what it is likely to use in the next second, at most what the rate allows in one
 * second, and asks at once for what is missing. What it uses beyond that is owed and goes with the next question.
 */
export class LeasedRate implements Leased {
  readonly name: string;
  readonly #lessor: Lessor;
  #burst = 1;
  #msPerUnit = 1;
  #held = 0;
  /** Of what is owed, what exceeded an estimate. */
  #corrected = 0;
  #wanted = 0;
  /** Of those that wait, what the one that lacks the least lacks. */
  #fewest: number | undefined;
  #heard: { readonly left: number; readonly at: number } | undefined;
  /** Units used in this second, and about as many in the last ones. */
  #used = 0;
  #recent = 0;
  readonly #sent: Sent[] = [];

  constructor(name: string, rate: Rate, lessor: Lessor) {
    this.name = name;
    this.#lessor = lessor;
    this.change(rate);
  }

  change(rate: Rate): void {
    this.#burst = Math.max(1, (rate.count * BURST_MS) / rate.perMs);
    this.#msPerUnit = rate.perMs / rate.count;
    this.#heard = undefined;
  }

  get level(): number {
    return this.#left() + this.#held;
  }

  waitFor(units: number): number | undefined {
    if (!this.#lessor.isUp) return undefined;
    const missing = this.#missing(units);
    if (missing <= 0) return 0;
    const age = this.#age();
    if (age > KNOWN_MS) return undefined;
    const wait = (missing - this.#left()) * this.#msPerUnit;
    return wait <= 0 ? undefined : Math.max(wait, PAUSE_MS - age);
  }

  take(units: number, estimated = false): void {
    // Requests while the engine is away count against the own part alone.
    if (!this.#lessor.isUp) return;
    this.#held -= units;
    if (estimated && units > 0) this.#corrected += units;
    if (!estimated) this.#used += units;
    this.#lessor.use(this);
    if (this.#held < -this.#slice) void this.#lessor.ask(this);
  }

  fetch(units: number): Promise<void> | undefined {
    if (!this.#lessor.isUp) return undefined;
    const missing = this.#missing(units);
    if (missing <= 0 || (this.#age() <= KNOWN_MS && missing > this.#left())) return undefined;
    this.#wanted += Math.min(units, this.#burst);
    this.#fewest = Math.min(missing, this.#fewest ?? Infinity);
    return this.#lessor.ask(this);
  }

  get isIdle(): boolean {
    return this.#held === 0 && this.#recent < 1 / 2 && this.#wanted === 0 && this.#sent.length === 0;
  }

  tick(): void {
    this.#recent = Math.max(this.#used, this.#recent / 2);
    this.#used = 0;
  }

  question(leaving: boolean): readonly (string | number)[] {
    const target = leaving ? 0 : Math.min(Math.ceil(Math.max(this.#recent, this.#used)), this.#slice);
    const owed = Math.max(0, -this.#held);
    const spare = this.#wanted > 0 ? 0 : Math.max(0, this.#held - target);
    const corrected = Math.min(owed, this.#corrected);
    const used = owed - corrected - spare;
    this.#held += owed - spare;
    this.#corrected = 0;
    const lacking = Math.max(0, this.#wanted - this.#held);
    const asked = this.#sent.reduce((sum, sent) => sum + sent.ahead, 0);
    const ahead = Math.max(0, target - asked - Math.max(0, this.#held - this.#wanted));
    const wanted = Math.ceil(lacking + ahead);
    const fewest = Math.min(this.#fewest ?? 0, wanted);
    this.#wanted = 0;
    this.#fewest = undefined;
    this.#sent.push({ used, corrected, ahead });
    return ['rate', this.#msPerUnit, this.#burst, used, corrected, wanted, fewest];
  }

  answered(got: number, left: number): void {
    this.#sent.shift();
    this.#held += got;
    this.#heard = { left, at: this.#lessor.now() };
  }

  /** A debt may be counted twice then, and returned permits are gone: never too little is counted. */
  unanswered(): void {
    const sent = this.#sent.shift();
    if (!sent) return;
    this.#held -= Math.max(0, sent.used) + sent.corrected;
    this.#corrected += sent.corrected;
  }

  get #slice(): number {
    return Math.max(1, SECOND_MS / this.#msPerUnit);
  }

  /** A full bucket gives more than its burst and owes the rest. */
  #missing(units: number): number {
    const missing = Math.min(units, this.#burst) - this.#held;
    return units > 0 && missing > ROUNDING ? missing : 0;
  }

  #age(): number {
    return this.#heard ? this.#lessor.now() - this.#heard.at : Infinity;
  }

  /** Permits that all processes can take, if none has taken any since. */
  #left(): number {
    const age = this.#age();
    if (!this.#heard) return this.#burst;
    return age < PAUSE_MS ? this.#heard.left : Math.min(this.#burst, this.#heard.left + age / this.#msPerUnit);
  }
}
