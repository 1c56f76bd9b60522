import { comparedName, matches } from '../../../core/catalog/globs.ts';
import { ShardedChanges, ShardedMap } from '../../../core/tenants/sharded-map.ts';
import type { LimitedKind, LimitKind } from '../../../plugin/errors.ts';
import type { Rate } from '../../../core/tenants/amounts.ts';
import { Bucket } from './gcra.ts';
import type { FleetLimits, SharedPart } from '../../../core/ports/fleet-memory.ts';
import type { Limits, NodeLimits } from '../../../core/tenants/tree.ts';

/** The owner of limits: a node of the tree, or a catalog entry. */
export interface Limited {
  readonly kind: LimitedKind;
  readonly id: string;
  /** `team:search`: unique among all kinds. */
  readonly ref: string;
  readonly limits: NodeLimits | undefined;
}

interface Sharing {
  readonly processes: number;
  /** Undefined: each process has an equal part. */
  readonly fleet: FleetLimits | undefined;
}

/** One node, or one node for the models of a pattern: its limits and what is used of them. */
export class Gate {
  readonly of: Limited;
  /** Pattern of models. Undefined: all models. */
  readonly models: string | undefined;
  /** `models` as names of models are compared. */
  readonly pattern: string;
  /** As the settings have them, for all processes together. */
  limits: Limits;
  requests: Bucket | undefined;
  tokens: Bucket | undefined;
  most = Infinity;
  /** Places that several gateways share. */
  places: SharedPart | undefined;
  running = 0;
  readonly #fleet: FleetLimits | undefined;

  constructor(of: Limited, models: string | undefined, limits: Limits, { processes, fleet }: Sharing) {
    this.of = of;
    this.models = models;
    this.pattern = comparedName(models ?? '*');
    this.limits = limits;
    this.#fleet = fleet;
    this.change(limits, processes, 0);
  }

  get isFull(): boolean {
    const wait = this.places?.waitFor(1);
    return wait === undefined ? this.running >= this.most : wait > 0;
  }

  change(limits: Limits, processes: number, now: number): void {
    const { requests, tokens, concurrency } = (this.limits = limits);
    this.requests = changed(this.requests, requests, { processes, now, shared: this.#shared('requests') });
    this.tokens = changed(this.tokens, tokens, { processes, now, shared: this.#shared('tokens') });
    this.most = concurrency === undefined ? Infinity : Math.ceil(concurrency / processes);
    if (concurrency === undefined) this.places = undefined;
    else if (this.places) this.places.change(concurrency);
    else this.places = this.#fleet?.places(this.#name('concurrency'), concurrency, () => this.running);
  }

  #shared(limit: LimitKind): ((rate: Rate) => SharedPart) | undefined {
    const fleet = this.#fleet;
    return fleet && ((rate) => fleet.rate(this.#name(limit), rate));
  }

  /** The same in all gateways. */
  #name(limit: LimitKind): string {
    return `${limit} ${this.of.ref}${this.models === undefined ? '' : ` ${this.models}`}`;
  }

  isUnused(now: number): boolean {
    return this.running === 0 && !this.requests?.fullIn(now) && !this.tokens?.fullIn(now);
  }
}

interface BucketChange {
  readonly processes: number;
  readonly now: number;
  /** Undefined: no other gateway shares the rate. */
  readonly shared: ((rate: Rate) => SharedPart) | undefined;
}

function changed(
  bucket: Bucket | undefined,
  rate: Rate | undefined,
  { processes, now, shared }: BucketChange,
): Bucket | undefined {
  if (!rate) return undefined;
  const share = { count: rate.count / processes, perMs: rate.perMs };
  if (!bucket) return shared ? new SharedBucket(share, rate, shared(rate)) : new Bucket(share);
  bucket.change(share, now);
  if (bucket instanceof SharedBucket) bucket.changeShared(rate);
  return bucket;
}

type Refs = readonly { readonly ref: string }[];

interface ListedGate {
  readonly gate: Gate;
  readonly limits: Limits;
}

export type ListedGates = ReadonlyMap<string, ListedGate>;

export interface GateTable {
  /** The gate of that name, or a new one, which is in use only after `use` or `useChanged`. */
  find(name: string, of: Limited, models: string | undefined, limits: Limits): Gate;
  use(listed: ListedGates): void;
  /** Applies limits that have changed. @param left names of gates that no node has any more */
  useChanged(changed: ListedGates, left: readonly string[]): void;
}

interface NodeGates {
  readonly names: readonly string[];
  readonly whole: Gate | undefined;
  readonly byModel: readonly Gate[];
}

const NONE: readonly Gate[] = [];

export class GateDirectory {
  readonly #table: GateTable;
  readonly #byRef: ShardedMap<NodeGates>;
  readonly #use: () => void;
  // The paths of keys are the same lists for as long as the nodes are in force.
  readonly #known = new WeakMap<Refs, readonly Gate[]>();

  private constructor(table: GateTable, byRef: ShardedMap<NodeGates>, use: () => void) {
    this.#table = table;
    this.#byRef = byRef;
    this.#use = use;
  }

  static of(table: GateTable, nodes: readonly Limited[]): GateDirectory {
    const listed = new Map<string, ListedGate>();
    const byRef = new ShardedChanges(new ShardedMap<NodeGates>());
    enter(table, nodes, { byRef, listed });
    return new GateDirectory(table, byRef.done(), () => table.use(listed));
  }

  /** The directory after some nodes have changed; its `use` applies what has. @param before the nodes as they were */
  with(nodes: readonly Limited[], before: readonly Limited[]): GateDirectory {
    const table = this.#table;
    const had = before.some(({ ref }) => this.#byRef.has(ref));
    if (!had && nodes.every(({ limits }) => !limits)) return new GateDirectory(table, this.#byRef, () => {});
    const listed = new Map<string, ListedGate>();
    const byRef = new ShardedChanges(this.#byRef);
    const names = before.flatMap(({ ref }) => byRef.get(ref)?.names ?? []);
    for (const { ref } of before) byRef.delete(ref);
    enter(table, nodes, { byRef, listed });
    const left = names.filter((name) => !listed.has(name));
    return new GateDirectory(table, byRef.done(), () => table.useChanged(listed, left));
  }

  use(): void {
    this.#use();
  }

  /** The gates of a path of nodes for requests of any model. @param path the same list for all requests of a key */
  whole(path: Refs): readonly Gate[] {
    let found = this.#known.get(path);
    if (!found) this.#known.set(path, (found = path.flatMap(({ ref }) => this.#byRef.get(ref)?.whole ?? NONE)));
    return found;
  }

  one(ref: string): Gate | undefined {
    return this.#byRef.get(ref)?.whole;
  }

  /** The gates of nodes that a model has, by its provider's name and with `@slug/`, both as `comparedName` writes them. */
  ofModel(refs: Refs, model: string, full: string): readonly Gate[] {
    let found: Gate[] | undefined;
    for (const { ref } of refs)
      for (const gate of this.#byRef.get(ref)?.byModel ?? NONE)
        if (matches(gate.pattern, model) || matches(gate.pattern, full)) (found ??= []).push(gate);
    return found ?? NONE;
  }
}

interface Entered {
  readonly byRef: ShardedChanges<NodeGates>;
  readonly listed: Map<string, ListedGate>;
}

function enter(table: GateTable, nodes: readonly Limited[], { byRef, listed }: Entered): void {
  const gateOf = (of: Limited, models: string | undefined, limits: Limits): [string, Gate] => {
    const name = models === undefined ? of.ref : `${of.ref} ${models}`;
    const gate = table.find(name, of, models, limits);
    listed.set(name, { gate, limits });
    return [name, gate];
  };
  for (const of of nodes) {
    if (!of.limits) continue;
    const { models, ...own } = of.limits;
    const whole = hasLimit(own) ? gateOf(of, undefined, own) : undefined;
    const byModel = models.map((one) => gateOf(of, one.pattern, one.limits));
    const names = [...(whole ? [whole] : []), ...byModel].map(([name]) => name);
    byRef.set(of.ref, { names, whole: whole?.[1], byModel: byModel.map(([, gate]) => gate) });
  }
}

const hasLimit = ({ requests, tokens, concurrency }: Limits): boolean =>
  requests !== undefined || tokens !== undefined || concurrency !== undefined;

/**
 * The bucket of a rate that several gateways share. Their engine decides; while it is away, this process has an equal part of the rate.
 * The part counts all that is taken, so that an engine that goes away does not give each process another burst.
 */
class SharedBucket extends Bucket {
  readonly #shared: SharedPart;
  /** Of all processes together. */
  #whole: Rate;

  constructor(part: Rate, whole: Rate, shared: SharedPart) {
    super(part);
    this.#shared = shared;
    this.#whole = whole;
  }

  changeShared(whole: Rate): void {
    if (whole.count === this.#whole.count && whole.perMs === this.#whole.perMs) return;
    this.#whole = whole;
    this.#shared.change(whole);
  }

  override fetch(units: number): Promise<void> | undefined {
    return this.#shared.fetch(units);
  }

  override waitFor(units: number, now: number): number {
    return this.#shared.waitFor(units) ?? super.waitFor(units, now);
  }

  override take(units: number, now: number): void {
    const isShared = this.#shared.waitFor(0) !== undefined;
    this.#shared.take(units);
    // One process may take what is the part of others: its own part then owes one burst at most.
    if (isShared) super.correct(units, now);
    else super.take(units, now);
  }

  override correct(units: number, now: number): void {
    this.#shared.take(units, true);
    super.correct(units, now);
  }

  override level(now: number): number {
    return this.#shared.waitFor(0) === undefined ? super.level(now) : this.#shared.level;
  }
}
