import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../plugin/index.ts';
import type { LimitKind } from '../../../plugin/errors.ts';
import { networkOf } from '../../../core/kernel/network-of.ts';
import type { Rate } from '../../../core/tenants/amounts.ts';
import { Bucket } from './gcra.ts';
import type { FleetLimits } from '../../../core/ports/fleet-memory.ts';
import type { Limits } from '../../../core/tenants/tree.ts';
import { Gate, type Limited, GateDirectory, type GateTable, type ListedGates } from './gate-directory.ts';

export interface Refusal {
  readonly gate: Gate;
  readonly limit: LimitKind;
  /** Exact for rates. */
  readonly retryAfterMs: number;
}

/** Gates of callers that plugins have made. Beyond it those are forgotten that hold no use of a limit; beyond twice as many, any. */
const MAX_MADE = 10_000;
const LOOKED_AT = 32;

/** The end of another request makes room. When it comes is unknown. */
const FULL_RETRY_MS = 1000;

/** The places and the estimate of tokens that a request has taken of the gates that it passed. */
export class Ticket {
  readonly gates: readonly Gate[];
  /** The estimate that was taken from the rates of tokens. Undefined: none was. */
  tokens: number | undefined;
  isOpen = true;

  constructor(gates: readonly Gate[]) {
    this.gates = gates;
  }
}

/** The gates of all nodes. They outlive snapshots: a reload keeps what is used. Each process has an equal part of a limit. */
export class Gates implements GateTable {
  /** Requests without a valid key. */
  readonly addresses: AddressGates;
  readonly #clock: Pick<Clock, 'now'>;
  #gates = new Map<string, Gate>();
  /** Of callers that plugins have made with limits of their own, by id; the least recently used first. */
  readonly #made = new Map<string, Gate>();
  /** Gates that no node has any more and that are still used. */
  readonly #left = new Set<string>();
  readonly #fleet: () => FleetLimits | undefined;
  #own = 1;
  #members = 1;
  #processes = 1;

  /** @param fleet asked when gates are made. Default: no limit is shared with other gateways */
  constructor(clock: Pick<Clock, 'now'>, fleet: () => FleetLimits | undefined = () => undefined) {
    this.#clock = clock;
    this.#fleet = fleet;
    this.addresses = new AddressGates(clock);
  }

  get size(): number {
    return this.#gates.size;
  }

  get isShared(): boolean {
    return this.#fleet() !== undefined;
  }

  /** Applies an equal part of every limit. @param processes the number of processes of this gateway that share the limits */
  share(processes: number): void {
    this.#own = processes;
    this.#share();
  }

  /** @param members the number of processes of all gateways that share the limits */
  shareWithFleet(members: number): void {
    this.#members = members;
    this.#share();
  }

  #share(): void {
    const processes = Math.max(this.#own, this.#members);
    if (processes < 1 || processes === this.#processes) return;
    this.#processes = processes;
    const now = this.#clock.now();
    for (const gate of [...this.#gates.values(), ...this.#made.values()]) gate.change(gate.limits, processes, now);
  }

  /** Nothing changes until the directory is used: these settings may be refused. */
  directory(nodes: readonly Limited[]): GateDirectory {
    return GateDirectory.of(this, nodes);
  }

  find(name: string, of: Limited, models: string | undefined, limits: Limits): Gate {
    return this.#gates.get(name) ?? new Gate(of, models, limits, { processes: this.#processes, fleet: this.#fleet() });
  }

  /** The gate of a caller that no settings have. */
  ofCaller(id: string, limits: Limits): Gate {
    const processes = this.#processes;
    const known = this.#made.get(id);
    const of: Limited = { kind: 'key', id, ref: `key:${id}`, limits: undefined };
    const gate = known ?? new Gate(of, undefined, limits, { processes, fleet: this.#fleet() });
    if (known && !isDeepStrictEqual(known.limits, limits)) known.change(limits, processes, this.#clock.now());
    this.#made.delete(id);
    this.#made.set(id, gate);
    if (!known) this.#forgetUnused();
    return gate;
  }

  #forgetUnused(): void {
    const now = this.#clock.now();
    let looked = 0;
    for (const [id, gate] of this.#made) {
      if (this.#made.size <= MAX_MADE || (looked += 1) > LOOKED_AT) return;
      if (gate.isUnused(now) || this.#made.size > 2 * MAX_MADE) this.#made.delete(id);
    }
  }

  use(listed: ListedGates): void {
    const now = this.#clock.now();
    const kept = new Map<string, Gate>();
    for (const [name, { gate, limits }] of listed) {
      gate.change(limits, this.#processes, now);
      kept.set(name, gate);
    }
    // Settings that return to a node find what is used of it, and who is still inside.
    this.#left.clear();
    for (const [name, gate] of this.#gates)
      if (!kept.has(name) && !gate.isUnused(now)) {
        kept.set(name, gate);
        this.#left.add(name);
      }
    this.#gates = kept;
  }

  useChanged(changed: ListedGates, left: readonly string[]): void {
    const now = this.#clock.now();
    for (const [name, { gate, limits }] of changed) {
      gate.change(limits, this.#processes, now);
      this.#gates.set(name, gate);
      this.#left.delete(name);
    }
    for (const name of left) this.#left.add(name);
    for (const name of this.#left) {
      if (this.#gates.get(name)?.isUnused(now) === false) continue;
      this.#gates.delete(name);
      this.#left.delete(name);
    }
  }

  /**
   * Asks other gateways for what is missing of shared limits. Undefined: nothing is, or none can be had.
   * @param entering for a request and its place @param estimate tokens
   */
  fetch(gates: readonly Gate[], entering: boolean, estimate: number): Promise<unknown> | undefined {
    let asked: Promise<void>[] | undefined;
    const wait = (fetched: Promise<void> | undefined): void => void (fetched && (asked ??= []).push(fetched));
    for (const { places, requests, tokens } of gates) {
      if (entering) wait(places?.fetch(1));
      if (entering) wait(requests?.fetch(1));
      if (estimate > 0) wait(tokens?.fetch(estimate));
    }
    return asked && Promise.all(asked);
  }

  refusal(gates: readonly Gate[]): Refusal | undefined {
    const now = this.#clock.now();
    let refusal: Refusal | undefined;
    for (const gate of gates) {
      if (gate.isFull) refusal = later(refusal, gate, 'concurrency', FULL_RETRY_MS);
      const wait = gate.requests?.waitFor(1, now) ?? 0;
      if (wait > 0) refusal = later(refusal, gate, 'requests', wait);
    }
    return refusal;
  }

  tokensRefusal(gates: readonly Gate[], estimate: number): Refusal | undefined {
    const now = this.#clock.now();
    let refusal: Refusal | undefined;
    for (const gate of gates) {
      const wait = gate.tokens?.waitFor(estimate, now) ?? 0;
      if (wait > 0) refusal = later(refusal, gate, 'tokens', wait);
    }
    return refusal;
  }

  /** Takes a request and a place from each gate, or from none. */
  enter(gates: readonly Gate[]): Ticket | Refusal {
    const refusal = this.refusal(gates);
    if (refusal) return refusal;
    const now = this.#clock.now();
    for (const gate of gates) {
      gate.running += 1;
      gate.places?.take(1);
      gate.requests?.take(1, now);
    }
    return new Ticket(gates);
  }

  /** Takes an estimate of tokens from each gate. A refusal gives back what the request had taken, its place too. */
  takeTokens(ticket: Ticket, estimate: number): Refusal | undefined {
    const refusal = this.tokensRefusal(ticket.gates, estimate);
    const now = this.#clock.now();
    if (refusal) {
      this.#close(ticket);
      for (const gate of ticket.gates) gate.requests?.correct(-1, now);
      return refusal;
    }
    ticket.tokens = estimate;
    for (const gate of ticket.gates) gate.tokens?.take(estimate, now);
    return undefined;
  }

  /**
   * Gives the places back and corrects the estimate. Only the first call counts.
   * @param tokens what was used; undefined: unknown, the estimate counts
   * @param cached those of them that the provider read from its cache
   */
  leave(ticket: Ticket, tokens: number | undefined, cached = 0): void {
    if (!ticket.isOpen) return;
    this.#close(ticket);
    if (tokens === undefined || ticket.tokens === undefined) return;
    const more = tokens - ticket.tokens;
    const now = this.#clock.now();
    for (const gate of ticket.gates) gate.tokens?.correct(more - (gate.limits.leavesOutCached ? cached : 0), now);
  }

  #close(ticket: Ticket): void {
    ticket.isOpen = false;
    for (const gate of ticket.gates) {
      gate.running -= 1;
      gate.places?.take(-1);
    }
  }
}

export const isRefusal = (one: Ticket | Refusal): one is Refusal => !(one instanceof Ticket);

/** The refusal with the longer wait: before its end the request would be refused again. */
const later = (before: Refusal | undefined, gate: Gate, limit: LimitKind, retryAfterMs: number): Refusal =>
  before && before.retryAfterMs >= retryAfterMs ? before : { gate, limit, retryAfterMs };

/** Addresses whose requests are counted. The one that was refused longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000;

export class AddressGates {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #max: number;
  /** By network, the one that was used last at the end. */
  readonly #buckets = new Map<string, Bucket>();
  #rate: Rate | undefined;

  constructor(clock: Pick<Clock, 'now'>, max = MAX_ADDRESSES) {
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** A new rate keeps the counts. Undefined: no requests are counted any more. */
  apply(rate: Rate | undefined): void {
    this.#rate = rate;
    if (!rate) return this.#buckets.clear();
    const now = this.#clock.now();
    for (const bucket of this.#buckets.values()) bucket.change(rate, now);
  }

  /** Counts a request without a valid key. Returns the milliseconds until the next one may come; 0: this one may. */
  count(address: string): number {
    if (!this.#rate) return 0;
    const now = this.#clock.now();
    const network = networkOf(address);
    const bucket = this.#buckets.get(network) ?? new Bucket(this.#rate);
    this.#buckets.delete(network);
    this.#buckets.set(network, bucket);
    if (this.#buckets.size > this.#max) this.#buckets.delete(this.#buckets.keys().next().value ?? '');
    const wait = bucket.waitFor(1, now);
    if (wait === 0) bucket.take(1, now);
    return wait;
  }
}
