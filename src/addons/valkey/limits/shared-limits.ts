import type { Clock } from '../../../plugin/index.ts';
import type { FleetLimits, SharedPart } from '../../../core/ports/fleet-memory.ts';
import type { Rate } from '../../../core/tenants/amounts.ts';
import type { SharedEngine } from '../engine/engine.ts';
import { leaseScript, MEMBER_TTL_MS } from './lease-script.ts';
import type { Leased, Lessor } from './leased.ts';
import { LeasedPlaces } from './leased-places.ts';
import { LeasedRate } from './leased-rate.ts';

interface SharedLimitsSetup {
  readonly engine: SharedEngine;
  readonly clock: Clock;
  readonly process: string;
  readonly prefix: string;
  readonly onMembers: (members: number) => void;
}

const TICK_MS = 1000;
/** Limits of one call of the script, which blocks the engine. */
const MOST_AT_ONCE = 500;

/** One call of the script each second for all limits in use, and one more for what requests lack. */
export class SharedLimits implements FleetLimits, Lessor {
  readonly #setup: SharedLimitsSetup;
  readonly #used = new Set<Leased>();
  readonly #listeners: ((members: number) => void)[] = [];
  #next: { readonly limits: Set<Leased>; readonly sent: Promise<void> } | undefined;
  #members = 1;
  #cancelTick: (() => void) | undefined;

  constructor(setup: SharedLimitsSetup) {
    this.#setup = setup;
    setup.onMembers(1);
    setup.engine.onUp(() => void this.#ask([...this.#used]));
  }

  get isUp(): boolean {
    return this.#setup.engine.isUp;
  }

  readonly now = (): number => this.#setup.clock.now();

  onMembers(listener: (members: number) => void): void {
    this.#listeners.push(listener);
    listener(this.#members);
  }

  readonly rate = (name: string, rate: Rate): SharedPart => new LeasedRate(name, rate, this);
  readonly places = (name: string, most: number, taken: () => number): SharedPart =>
    new LeasedPlaces(name, most, { taken, lessor: this });

  use(limit: Leased): void {
    this.#used.add(limit);
  }

  ask(limit: Leased): Promise<void> {
    this.#used.add(limit);
    const limits = new Set<Leased>();
    // All requests of a turn of the event loop ask together.
    this.#next ??= { limits, sent: new Promise((resolve) => setImmediate(() => resolve(this.#askNext()))) };
    this.#next.limits.add(limit);
    return this.#next.sent;
  }

  start(): void {
    this.#cancelTick = this.#setup.clock.after(TICK_MS, () => {
      this.#tick();
      this.start();
    });
  }

  async stop(): Promise<void> {
    this.#cancelTick?.();
    if (this.isUp) await this.#ask([...this.#used], true);
  }

  #tick(): void {
    for (const limit of this.#used) {
      limit.tick();
      if (limit.isIdle) this.#used.delete(limit);
    }
    if (this.isUp) void this.#ask([...this.#used]);
  }

  #askNext(): Promise<void> {
    const limits = [...(this.#next?.limits ?? [])];
    this.#next = undefined;
    return this.#ask(limits);
  }

  async #ask(limits: readonly Leased[], leaving = false): Promise<void> {
    const calls: Promise<void>[] = [];
    for (let at = 0; at === 0 || at < limits.length; at += MOST_AT_ONCE)
      calls.push(this.#askOnce(limits.slice(at, at + MOST_AT_ONCE), leaving));
    await Promise.all(calls);
  }

  async #askOnce(limits: readonly Leased[], leaving: boolean): Promise<void> {
    const { engine, process, prefix } = this.#setup;
    // One hash tag: in a cluster a script reads the keys of one slot.
    const keys = ['processes', ...limits.map(({ name }) => name)].map((name) => `${prefix}:{limits}:${name}`);
    const args = [process, MEMBER_TTL_MS, leaving ? 1 : 0, ...limits.flatMap((limit) => limit.question(leaving))];
    try {
      const answer = await leaseScript.run(engine, { job: 'limits', keys, args: args.map(String) });
      const [members = 1, ...numbers] = numbersOf(answer, 1 + 2 * limits.length);
      for (const [index, limit] of limits.entries()) limit.answered(numbers[2 * index]!, numbers[2 * index + 1]!);
      this.#heard(members);
    } catch {
      for (const limit of limits) limit.unanswered();
    }
  }

  #heard(members: number): void {
    if (members < 1 || members === this.#members) return;
    this.#members = members;
    this.#setup.onMembers(members);
    for (const listener of this.#listeners) listener(members);
  }
}

/** @throws Error where the answer is another one */
function numbersOf(answer: unknown, length: number): readonly number[] {
  const numbers = Array.isArray(answer) ? answer.map(Number) : [];
  if (numbers.length !== length || !numbers.every(Number.isFinite)) throw new Error('the script gave no such answer');
  return numbers;
}
