import type { AuditEvent, AuditRow, AuditVerdict, KnownRow } from './audit.ts';
import type {
  Adjustment,
  Boot,
  CounterRef,
  CounterState,
  Counters,
  CreditUse,
  Grant,
  LeaseId,
  LeaseRequest,
  LeaseState,
} from './counters.ts';
import type {
  Actor,
  DigestKind,
  EntityChange,
  EntityKind,
  EntityRef,
  Epoch,
  KeyDigest,
  KeyUse,
  Version,
} from './entities.ts';
import type { ShownBoot } from './boots.ts';
import type { ClaimWish } from './claims.ts';
import type { OutboxEvent } from './outbox.ts';
import type { KeptAnswer } from './idempotency.ts';
import type { LedgerQuery, LedgerRow, LedgerSum, RollupDimension, RollupQuery, RollupRow } from './ledger.ts';
import type { Nano } from './money.ts';

/**
 * The rules of a state store, the same for every backend: what a call changes, over the rows that a backend has loaded. All of them are
 * synchronous and pure. The add-on of the store has them; a driver of another add-on takes them with `partOf('storeRules')`.
 */
export interface StoreRules {
  /** @param text of `state.encryption_keys`; empty: no keys. @throws StateFailure `sealed` */
  ring(text: string): SecretRing;
  counting(run: RunCount): CountingCalls;
  noCounter(ref: CounterRef): CounterState;
  writeEntities(tables: EntityTables, write: EntityWrite): Version;
  placeOf(ref: EntityRef, field: string, version: Version): SealedPlace;
  auditChain(ring: SecretRing): AuditChain;
  readonly ledger: LedgerRules;
  epochEvent(before: Epoch, after: Epoch, reason: string): AuditEvent;
  readonly checks: StoreChecks;
}

/** The bounds of the ports, which a backend checks before it writes anything. Each throws `invalid`. */
export interface StoreChecks {
  checkActor(actor: Actor): void;
  checkKeyUses(uses: readonly KeyUse[]): void;
  checkAnswer(answer: KeptAnswer): void;
  checkShown(boot: Boot, shown: ShownBoot): void;
  checkClaim(wish: ClaimWish): void;
  checkEvents(events: readonly OutboxEvent[]): void;
  checkTaking(to: readonly string[], most: number, ms: number): void;
  checkTake(requests: readonly LeaseRequest[], by: Boot, batch: number): void;
  checkInteger(what: string, value: number, least: number, most?: number): void;
}

export interface LeaseRow extends CounterRef {
  readonly id: LeaseId;
  readonly boot: Boot['id'];
  readonly granted: Nano;
  readonly used: Nano;
  /** When it was lost or given back; 0: it lives. */
  readonly endedAt: number;
  readonly state: 'live' | 'lost' | 'ended';
}

/** The tables of a backend within one transaction: it keeps the effects of all calls below, or, when one throws, of none. */
export interface CountingTables {
  counter(ref: CounterRef): CounterState | undefined;
  saveCounter(row: CounterState): void;
  lease(id: LeaseId): LeaseRow | undefined;
  liveLease(boot: Boot['id'], ref: CounterRef): LeaseRow | undefined;
  /** Living leases of processes that were not renewed since. */
  reapable(since: number): readonly LeaseRow[];
  /** Living and lost leases of a process. */
  openLeases(boot: Boot['id']): readonly LeaseRow[];
  /** In the order of their ids. */
  lostLeases(ref: CounterRef): readonly LeaseRow[];
  newLeaseId(): LeaseId;
  saveLease(row: LeaseRow): void;
  /** The last batch of `take` of a process; 0: none. */
  lastBatch(boot: Boot['id']): number;
  lastAnswer(boot: Boot['id']): readonly Grant[];
  saveAnswer(boot: Boot['id'], batch: number, answer: readonly Grant[]): void;
  /** Renews a process. One row, whatever its leases. */
  saveBoot(boot: Boot, seenAt: number): void;
  /** Processes that were renewed since. */
  countBoots(since: number): number;
  /** Removes ended leases, lost ones without a rest, and processes without leases that are older. */
  prune(before: number): void;
  isAdjusted(id: string): boolean;
  saveAdjusted(id: string): void;
  /** Rows of the audit of a counter's adjustments after `since`, at most `MAX_ADJUSTMENTS`. @param id `auditIdOf` */
  adjustments(id: string, since: number): readonly AdjustmentRow[];
  addAudit(event: AuditEvent, by: Actor): void;
  /** Undefined: the backend gives no standing credit. One machine needs none. */
  readonly credit?: CreditTables | undefined;
}

/** A process that has standing credit, may have used it, or asks for it. */
export interface CreditBoot extends CreditUse {
  readonly id: Boot['id'];
  /** Its last call, in milliseconds since 1970. */
  readonly seenAt: number;
}

/** The tables of a backend that gives standing credit, in the same transaction as `CountingTables`. */
export interface CreditTables {
  /**
   * Lets other transactions that call it wait until this one has ended. What the tables are read for afterwards includes what those have written.
   * It comes after locks of counters: a backend whose transactions could then block each other begins anew, with this lock first.
   */
  lock(): void;
  /** Those that `saveUse` has saved and not removed. A process with parts stays, however long it has been silent. */
  boots(): readonly CreditBoot[];
  /** @param use undefined: removes it */
  saveUse(boot: Boot['id'], use: CreditUse | undefined): void;
  /** The number of the last change of tightness; 0: none. `changedAfter` has all changes up to it whose counters are still there. */
  lastChange(): number;
  saveLastChange(change: number): void;
  /** Counters whose last change of tightness is a later one, in the order of these changes. */
  changedAfter(change: number, most: number): readonly TightCounter[];
}

export type TightCounter = Pick<CounterState, 'node' | 'period' | 'tight'>;

/** Changes of tightness in one answer. */
export const MAX_TIGHT_CHANGES = 1000;

export type AdjustmentRow = Pick<AuditRow, 'role' | 'before' | 'after'>;

/** With so many, a counter takes no more adjustments with a limit. */
export const MAX_ADJUSTMENTS = 2_000;

/** Runs a task on the tables, in one transaction, at a time of the store's wall clock. */
export type RunCount = <Result>(now: number, task: (tables: CountingTables) => Result) => Result;

type AtTime<Call extends (...args: never[]) => Promise<unknown>> = (
  now: number,
  ...args: Parameters<Call>
) => Awaited<ReturnType<Call>>;

/** The methods of `Counters` that write. The time comes first, as in all calls of a store. */
export interface CountingCalls {
  readonly take: AtTime<Counters['take']>;
  readonly report: (now: number, ...args: Parameters<Counters['report']>) => LeaseState[];
  readonly giveBack: AtTime<Counters['giveBack']>;
  readonly reap: AtTime<Counters['reap']>;
  readonly adjust: (now: number, adjustment: Adjustment, by: Actor) => CounterState;
  readonly notify: AtTime<Counters['notify']>;
}

export interface EntityRow extends EntityRef {
  readonly version: Version;
  /** JSON text; empty when deleted. */
  readonly doc: string;
  readonly updatedBy: string;
  readonly updatedAt: number;
  /** 1: deleted. */
  readonly gone: number;
}

export interface SealedField {
  readonly field: string;
  /** The store's version when the field was sealed, a part of its place. */
  readonly version: Version;
  readonly envelope: string;
}

/** The tables of a backend within one transaction: it keeps the effects of all calls below, or, when one throws, of none. */
export interface EntityTables {
  version(): Version;
  entity(ref: EntityRef): EntityRow | undefined;
  count(kind: EntityKind): number;
  digests(kind: DigestKind, id: string): readonly KeyDigest[];
  digestOwner(kind: DigestKind, digest: string): string | undefined;
  sealed(ref: EntityRef): readonly SealedField[];
  saveVersion(version: Version): void;
  saveEntity(row: EntityRow): void;
  saveDigests(kind: DigestKind, id: string, digests: readonly KeyDigest[]): void;
  saveSealed(ref: EntityRef, field: string, sealed: SealedField | undefined): void;
  addAudit(event: AuditEvent, by: Actor): void;
}

export interface EntityWrite {
  readonly changes: readonly EntityChange[];
  readonly by: Actor;
  readonly now: number;
  readonly keys: SecretRing;
}

/** The place of a sealed value: a value that was moved to another row does not open. */
export interface SealedPlace {
  readonly table: string;
  readonly id: string;
  readonly field: string;
  readonly version: number;
}

/** The keys that seal secrets, the one that seals first. None: nothing can be sealed. */
export interface SecretRing {
  readonly names: readonly string[];
  seal(value: string, place: SealedPlace): string;
  open(text: string, place: SealedPlace): string;
  /** The same envelope under the first key; undefined if it is already. */
  rewrap(text: string, place: SealedPlace): string | undefined;
  /** Eight hex digits by which an audit row distinguishes values of a secret. */
  fingerprint(value: string): string;
  /** The key under which other rooms sign what they store, by purpose. @param name of the key that it is made of; default: the first */
  derive(purpose: string, name?: string): Buffer | undefined;
}

export type LastRow = Pick<AuditRow, 'seq' | 'hash' | 'action' | 'kind' | 'id'>;

/** The chain of hashes of the audit. Times are milliseconds since 1970. */
export interface AuditChain {
  next(event: AuditEvent, by: Actor, after: LastRow | undefined, at: number): AuditRow;
  /** The row under the old key that announces the first key, or undefined: the last row needs none. */
  announcement(after: LastRow | undefined, at: number): AuditRow | undefined;
  /** The event of a removal of old rows: `last` was the newest of them. */
  dropOf(last: KnownRow): AuditEvent;
  /** Begins a check of all rows, from the first. */
  check(known?: KnownRow): ChainCheck;
}

export interface ChainCheck {
  /** Takes the next row. A verdict: the chain is broken here, and the check has ended. */
  add(row: AuditRow): AuditVerdict | undefined;
  end(): AuditVerdict;
}

/** The sums of one hour, or one day, and one combination of names. */
export interface RollupCell extends Record<LedgerSum, number> {
  readonly start: number;
  /** In the order of ROLLUP_DIMENSIONS. */
  readonly names: readonly string[];
  requests: number;
  attempts: number;
  hits: number;
  readonly ms: number[];
  readonly firstMs: number[];
}

/** Whole hours, and what the cells have to distinguish: a time zone needs hours, labels need their text. */
export interface WantedCells {
  readonly from: number;
  readonly to: number;
  readonly by: readonly RollupDimension[];
  /** Cells with starts in one span of so many milliseconds may be one. */
  readonly span: number;
}

export interface CellSums {
  /** @throws StateFailure `invalid`: the answer would have more sums than the query takes */
  add(cell: RollupCell): void;
  /** Exact, but for sums that are no safe integers any more. */
  rows(): RollupRow[];
}

interface LedgerRules {
  checkRows(rows: readonly LedgerRow[]): void;
  checkQuery(query: LedgerQuery): void;
  checkRollupQuery(query: RollupQuery): void;
  /** Sums by hour. */
  cellsOf(rows: readonly LedgerRow[]): Iterable<RollupCell>;
  /** The cells that the answer to a query is made of. */
  cellsWanted(query: RollupQuery): WantedCells;
  /** The answer to a query, of cells that come one after the other. @param hoursSince milliseconds since 1970: days before it are sums by day */
  sumsOf(query: RollupQuery, hoursSince: number): CellSums;
  /** @throws StateFailure `invalid` */
  startOfDay(day: string): number;
  dayOf(at: number): string;
}
