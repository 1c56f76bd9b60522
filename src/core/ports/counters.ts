import { nameOfCounter, type Budget, type Span } from '../tenants/tree.ts';
import type { Nano } from './money.ts';
import type { Actor } from './entities.ts';

/**
 * The spending of budgets, and which process may spend how much more without a question (a lease).
 *
 * A process takes leases ahead of its requests, reserves and settles within them in memory, and reports totals. Everything may be
 * repeated when an answer was lost: batches of takes have numbers, reports are totals, adjustments have ids.
 *
 * After each `take` and for each counter with a cap: `spent + leased + unreconciled <= cap`, unless the cap was lowered or a process
 * reported more than its lease. `spent` stays at `MAX_NANO` once it is there.
 *
 * Times are those of the store's clock. A lease lives as long as its process, which each `take` and `report` renews for `LEASE_MS`.
 *
 * Amounts are integers of nano-USD from 0 to `MAX_NANO`. Every method rejects with `StateFailure`: `unavailable`, `invalid`, `full`.
 */
export interface Counters {
  /**
   * Grants part of what is free, for each request in order. The grant is the minimum of `want` and of what each node of its path
   * has free; if that is less than `need`, nothing is granted. The leases of the process on all nodes of the path grow by the grant.
   *
   * @param batch a number that grows with each call of a process. The last number again returns the last answer again.
   * @param credit asks for standing credit, and says what is used of it. Only the store of a fleet gives some.
   */
  take(requests: readonly LeaseRequest[], by: Boot, batch: number, credit?: CreditUse): Promise<TakeResult>;
  /**
   * Replaces the used totals of leases, which moves the difference from leased to spent, and renews the process.
   * A lower total than the stored one changes nothing. The answer is in the order of `used`; without any, it only renews the process.
   */
  report(used: readonly LeaseUsage[], by: Boot): Promise<readonly LeaseState[]>;
  /**
   * Ends leases: the unused rest is free again, of lost leases too. Leases that are unknown or ended are ignored.
   * @param last the process has ended, the store has all that it used, and it knew no lease with a higher number: those whose answer never
   *   came end, too, and its standing credit is free again. A lower one that is still open was given back in a transaction that a failover
   *   lost; its rest counts as spent, because the store may have lost the report before it, too.
   */
  giveBack(leases: readonly LeaseId[], by: Boot, last?: LeaseId): Promise<void>;
  /**
   * Declares leases lost whose process was not renewed for `LEASE_MS`, or whose process is `boot`: their rest becomes `unreconciled`.
   * A lost lease still takes reports, which reduce `unreconciled`, and `giveBack`.
   */
  reap(boot?: Boot['id']): Promise<readonly LostLease[]>;
  /**
   * Changes `spent` or `unreconciled` of a counter by a signed amount, with an audit row. The same `id` again changes nothing.
   * Rejects with `not_allowed` where the adjustment and those of its role within `limit.ms` are more than `limit.most` together.
   */
  adjust(adjustment: Adjustment, by: Actor): Promise<CounterState>;
  /** In the order of `counters`; zeros for an unused counter. */
  read(counters: readonly CounterRef[]): Promise<readonly CounterState[]>;
  /** Sets a bit of `notified`. True for the one caller that set it. @param bit 0 to 31 */
  notify(counter: CounterRef, bit: number): Promise<boolean>;
  /** All counters, in the order of nodes and periods, in pieces. */
  all(): AsyncIterable<readonly CounterState[]>;
  /** Removes the counters of periods that began more than `ageMs` ago and have no lease; those without a period stay. */
  forget(ageMs: number): Promise<number>;
}

/** Largest amount: a safe integer holds 9.007 million USD. */
export const MAX_NANO: Nano = 9_000_000_000_000_000;

/** The leases of a process that has not reported for this long are lost. */
export const LEASE_MS = 30_000;
/** Most nodes of one path. */
export const MAX_PATH = 16;
/** Most requests or reports of one call. */
export const MAX_BATCH = 10_000;

/** The period of a budget at a moment of the wall clock. */
export type PeriodAt = (budget: Budget, now: number) => Span;

/** A counter: what a node of the budget tree has spent in one period. */
export interface CounterRef {
  /** Name of the node and its budget, such as `team/search` or `key/ci/monthly`. 1 to 256 characters. */
  readonly node: string;
  /** Start of the period in milliseconds since 1970; 0: a budget without periods. */
  readonly period: number;
}

/** Names a counter in rows of the audit: its name, and the start of its period if it has one. */
export const auditIdOf = ({ node, period }: CounterRef): string =>
  period === 0 ? nameOfCounter(node) : `${nameOfCounter(node)} ${new Date(period).toISOString()}`;

/** One run of a process. */
export interface Boot {
  /** 32 hex digits, random. */
  readonly id: string;
  readonly host: string;
  readonly role: 'single' | 'primary' | 'worker';
  /** Release of the gateway. */
  readonly version: string;
  readonly configHash: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** A process asks for room on the counters of one path. */
export interface LeaseRequest {
  /** Nodes on which the amount counts, from the widest to the narrowest; each once. */
  readonly path: readonly CounterRef[];
  /** Cap of each node of the path. Undefined: counted without a limit. */
  readonly caps: readonly (Nano | undefined)[];
  /** Smallest useful grant. */
  readonly need: Nano;
  /** Not less than `need`. */
  readonly want: Nano;
  /** For each node: a lease grows in any case to what is used and held on it, which may be on standing credit. */
  readonly covers?: readonly Cover[] | undefined;
}

export interface Cover {
  /** The lease that the process has on the node; 0: none. Where it does not live any more, the request is granted nothing. */
  readonly lease: LeaseId;
  readonly total: Nano;
}

/** Standing credit of a fleet: the share of each cap that its processes may use, all together, without a lease. */
export const CREDIT_SHARE = 0.1;
/** The whole share, as the sum of the parts of all processes. */
export const CREDIT_PARTS = 1_000_000;

/** The amount that a process may use and hold beyond its lease of a counter which is not tight. */
export const creditOf = (cap: Nano, parts: number): Nano =>
  Math.floor(((cap * CREDIT_SHARE) / CREDIT_PARTS) * Math.min(parts, CREDIT_PARTS));

/** The standing credit of a process by its own words, true once the covers of the same call are granted. */
export interface CreditUse {
  /** It uses no more than these parts, on any counter. */
  readonly parts: number;
  /** The last change of tightness that it has applied: on counters that were tight then it uses nothing. 0: none yet. */
  readonly knows: number;
}

export interface CreditAnswer {
  /** The parts that the process may use from now on. */
  readonly parts: number;
  /** Counters that became tight after `knows` of the question, or stopped to be. In the order of the changes, a bounded number. */
  readonly changes: readonly (CounterRef & { readonly isTight: boolean })[];
  /** The last change of the store; where `isWhole` is false, of `changes`. Not less than that of the question. */
  readonly knows: number;
  /** False: further changes wait for the next question. */
  readonly isWhole: boolean;
}

/** On a tight counter no process has standing credit. */
export interface Tightness {
  /** The highest cap by which a process may have credit. */
  readonly cap: Nano;
  /** Number of the last change, unique in the store and ascending. 0: it was never tight. */
  readonly change: number;
  /** Milliseconds since 1970; 0: it is not tight. */
  readonly since: number;
}

export interface TakeResult {
  /** In the order of the requests. */
  readonly grants: readonly Grant[];
  /** Processes that have reported within `LEASE_MS`, this one included. */
  readonly live: number;
  /** Undefined: none was asked for, or the store gives none. */
  readonly credit?: CreditAnswer | undefined;
}

export interface Grant {
  /** Beyond what covers have taken. 0: nothing was granted. */
  readonly granted: Nano;
  /** The leases of the process on the nodes of the path, after the grant, in order. */
  readonly leases: readonly LeaseState[];
}

/** Given by the store; not given again. */
export type LeaseId = number;

export interface LeaseState {
  /** 0: the process has no lease on this counter. */
  readonly lease: LeaseId;
  /** `unknown`: no such lease of this process; its usage was not counted. `counter` is then undefined. */
  readonly state: 'live' | 'lost' | 'ended' | 'unknown';
  /** Sum of the grants. */
  readonly granted: Nano;
  /** The total that the process has reported. May exceed `granted`. */
  readonly used: Nano;
  readonly counter: CounterState | undefined;
}

export interface CounterState extends CounterRef {
  /** Negative after an adjustment that adds money. */
  readonly spent: Nano;
  /** Granted to living processes and not reported as used. */
  readonly leased: Nano;
  /** Granted to lost processes and neither reported nor given back: as good as spent. */
  readonly unreconciled: Nano;
  /** Bits that `notify` has set. */
  readonly notified: number;
  /** Undefined where the store gives no standing credit, and until the first lease. */
  readonly tight?: Tightness | undefined;
}

export interface LeaseUsage {
  readonly lease: LeaseId;
  /** All that the process has settled on this lease so far. */
  readonly usedTotal: Nano;
}

export interface LostLease extends CounterRef {
  readonly lease: LeaseId;
  readonly boot: Boot['id'];
  /** The amount that became unreconciled. */
  readonly rest: Nano;
}

export interface Adjustment extends CounterRef {
  /** Given by the caller, 1 to 128 characters, unique in the store. */
  readonly id: string;
  readonly of: 'spent' | 'unreconciled';
  /** Signed. `unreconciled` does not fall below 0. */
  readonly by: Nano;
  /** For the audit. */
  readonly why: string;
  /** Undefined: any amount. */
  readonly limit?: AdjustmentLimit | undefined;
  /** Checks the limit, and changes nothing. */
  readonly dryRun?: boolean | undefined;
}

/** The most that the actors of one role may change a counter by, adjustments up and down added up. */
export interface AdjustmentLimit {
  readonly most: Nano;
  readonly ms: number;
}

/** Counters that several processes share, or that outlive one. */
export interface CounterSource {
  readonly counters: Pick<Counters, 'take' | 'report' | 'giveBack'>;
  readonly boot: Boot;
}
