import type { Clock, LimitedKind, LimitKind } from '../plugin/index.ts';
import { matches } from '../prices/model-pattern.ts';
import type { Rate } from './amounts.ts';
import { AddressGates } from './address-gates.ts';
import { Bucket } from './gcra.ts';
import type { Limits, NodeLimits } from './tree.ts';

/** What has limits: a node of the tree, or a catalog entry. */
export interface Limited {
  readonly kind: LimitedKind;
  readonly id: string;
  /** `team:search`: unique among all kinds. */
  readonly ref: string;
  readonly limits: NodeLimits | undefined;
}

/** A limit that is used up. */
export interface Refusal {
  readonly gate: Gate;
  readonly limit: LimitKind;
  /** Exact for rates. */
  readonly retryAfterMs: number;
}

/** The end of another request makes room. When it comes is unknown. */
const FULL_RETRY_MS = 1000;

/** One node, or one node for the models of a pattern: its limits and what is used of them. */
export class Gate {
  readonly of: Limited;
  /** Pattern of models. Undefined: all models. */
  readonly models: string | undefined;
  /** As the settings have them, for all processes together. */
  limits: Limits;
  requests: Bucket | undefined;
  tokens: Bucket | undefined;
  most = Infinity;
  running = 0;

  constructor(of: Limited, models: string | undefined, limits: Limits, processes: number) {
    this.of = of;
    this.models = models;
    this.limits = limits;
    this.change(limits, processes, 0);
  }

  /** Applies new limits to what is used already. */
  change(limits: Limits, processes: number, now: number): void {
    this.limits = limits;
    this.requests = changed(this.requests, limits.requests, processes, now);
    this.tokens = changed(this.tokens, limits.tokens, processes, now);
    this.most = limits.concurrency === undefined ? Infinity : Math.ceil(limits.concurrency / processes);
  }

  isUnused(now: number): boolean {
    return this.running === 0 && !this.requests?.fullIn(now) && !this.tokens?.fullIn(now);
  }
}

function changed(
  bucket: Bucket | undefined,
  rate: Rate | undefined,
  processes: number,
  now: number,
): Bucket | undefined {
  if (!rate) return undefined;
  const share = { count: rate.count / processes, perMs: rate.perMs };
  if (!bucket) return new Bucket(share);
  bucket.change(share, now);
  return bucket;
}

/** What a request has taken of the gates that it passed. */
export class Ticket {
  readonly gates: readonly Gate[];
  /** The estimate that was taken from the rates of tokens. Undefined: none was. */
  tokens: number | undefined;
  isOpen = true;

  constructor(gates: readonly Gate[]) {
    this.gates = gates;
  }
}

/** The gates of one node. */
interface NodeGates {
  readonly whole: Gate | undefined;
  readonly byModel: readonly Gate[];
}

const NONE: readonly Gate[] = [];

type Refs = readonly { readonly ref: string }[];

/** The gates of one version of the settings. */
export interface GateDirectory {
  /** Called when these settings take effect. */
  use(): void;
  /** The gates of a path of nodes for requests of any model. @param path the same list for all requests of a key */
  whole(path: Refs): readonly Gate[];
  /** The gate of one node for requests of any model. */
  one(ref: string): Gate | undefined;
  /** The gates of nodes that a model has, by its provider's name and with `@slug/`. */
  ofModel(refs: Refs, model: string, full: string): readonly Gate[];
}

/**
 * The gates of all nodes; they outlive snapshots, so that a reload keeps what is used and who is inside. Every process counts for
 * itself: each has an equal part of a limit. Bounded by the nodes of the settings.
 */
export class Gates {
  /** Requests without a valid key. */
  readonly addresses: AddressGates;
  readonly #clock: Pick<Clock, 'now'>;
  #gates = new Map<string, Gate>();
  #processes = 1;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.addresses = new AddressGates(clock);
  }

  get size(): number {
    return this.#gates.size;
  }

  /** Applies an equal part of every limit. @param processes the number of processes that share the limits */
  share(processes: number): void {
    if (processes < 1 || processes === this.#processes) return;
    this.#processes = processes;
    const now = this.#clock.now();
    for (const gate of this.#gates.values()) gate.change(gate.limits, processes, now);
  }

  /** Nothing changes until the directory is used: these settings may be refused. */
  directory(nodes: readonly Limited[]): GateDirectory {
    const listed = new Map<string, { readonly gate: Gate; readonly limits: Limits }>();
    const enter = (of: Limited, models: string | undefined, limits: Limits): Gate => {
      const key = models === undefined ? of.ref : `${of.ref} ${models}`;
      const gate = this.#gates.get(key) ?? new Gate(of, models, limits, this.#processes);
      listed.set(key, { gate, limits });
      return gate;
    };
    const byRef = new Map(
      nodes.flatMap((of): [string, NodeGates][] => {
        const { ref, limits } = of;
        if (!limits) return [];
        const { models, ...own } = limits;
        const whole = hasLimit(own) ? enter(of, undefined, own) : undefined;
        return [[ref, { whole, byModel: models.map((one) => enter(of, one.pattern, one.limits)) }]];
      }),
    );
    // The paths of keys are the same lists for as long as the settings are in force.
    const known = new WeakMap<Refs, readonly Gate[]>();
    return {
      use: () => this.#use(listed),
      whole: (path) => {
        let found = known.get(path);
        if (!found) known.set(path, (found = path.flatMap(({ ref }) => byRef.get(ref)?.whole ?? NONE)));
        return found;
      },
      one: (ref) => byRef.get(ref)?.whole,
      ofModel: (refs, model, full) => {
        let found: Gate[] | undefined;
        for (const { ref } of refs)
          for (const gate of byRef.get(ref)?.byModel ?? NONE)
            if (matches(gate.models!, model) || matches(gate.models!, full)) (found ??= []).push(gate);
        return found ?? NONE;
      },
    };
  }

  #use(listed: ReadonlyMap<string, { readonly gate: Gate; readonly limits: Limits }>): void {
    const now = this.#clock.now();
    const kept = new Map<string, Gate>();
    for (const [key, { gate, limits }] of listed) {
      gate.change(limits, this.#processes, now);
      kept.set(key, gate);
    }
    // Settings that return to a node find what is used of it, and who is still inside.
    for (const [key, gate] of this.#gates) if (!kept.has(key) && !gate.isUnused(now)) kept.set(key, gate);
    this.#gates = kept;
  }

  /** The refusal that a request would get now. */
  refusal(gates: readonly Gate[]): Refusal | undefined {
    const now = this.#clock.now();
    let refusal: Refusal | undefined;
    for (const gate of gates) {
      if (gate.running >= gate.most) refusal = later(refusal, gate, 'concurrency', FULL_RETRY_MS);
      const wait = gate.requests?.waitFor(1, now) ?? 0;
      if (wait > 0) refusal = later(refusal, gate, 'requests', wait);
    }
    return refusal;
  }

  /** The refusal that an estimate of tokens would get now. */
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
   */
  leave(ticket: Ticket, tokens: number | undefined): void {
    if (!ticket.isOpen) return;
    this.#close(ticket);
    if (tokens === undefined || ticket.tokens === undefined || tokens === ticket.tokens) return;
    const now = this.#clock.now();
    for (const gate of ticket.gates) gate.tokens?.correct(tokens - ticket.tokens, now);
  }

  #close(ticket: Ticket): void {
    ticket.isOpen = false;
    for (const gate of ticket.gates) gate.running -= 1;
  }
}

export const isRefusal = (one: Ticket | Refusal): one is Refusal => !(one instanceof Ticket);

const hasLimit = ({ requests, tokens, concurrency }: Limits): boolean =>
  requests !== undefined || tokens !== undefined || concurrency !== undefined;

/** The refusal with the longer wait: before its end the request would be refused again. */
const later = (before: Refusal | undefined, gate: Gate, limit: LimitKind, retryAfterMs: number): Refusal =>
  before && before.retryAfterMs >= retryAfterMs ? before : { gate, limit, retryAfterMs };
