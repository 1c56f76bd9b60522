import type { AuditVerdict } from './audit.ts';
import type { Ledger, LedgerQuery, LedgerRow, RollupQuery, RollupRow } from './ledger.ts';

/** Tables that a store takes over row by row, with the columns that both stores have. The ledger moves by day. */
export const MOVED_TABLES = {
  entity: ['kind', 'id', 'version', 'doc', 'updated_by', 'updated_at', 'gone'],
  secret_digest: ['kind', 'id', 'slot', 'digest', 'last4', 'valid_from', 'valid_to'],
  key_seen: ['key_id', 'last_used_at', 'address'],
  sealed: ['kind', 'id', 'field', 'version', 'envelope'],
  key_check: ['kid', 'envelope'],
  counter: ['node', 'period', 'spent', 'leased', 'unreconciled', 'notified'],
  lease: ['id', 'boot', 'node', 'period', 'granted', 'used', 'ended_at', 'state'],
  boot: ['id', 'host', 'role', 'version', 'config_hash', 'started_at', 'seen_at', 'batch', 'answer'],
  adjusted: ['id'],
  audit: ['seq', 'at', 'actor', 'role', 'address', 'action', 'kind', 'id', 'before', 'after', 'reason', 'prev', 'hash'],
  idem: ['actor', 'key', 'sha256', 'status', 'body', 'until'],
  outbox: ['id', 'receiver', 'body', 'tries', 'due'],
  epoch: ['id', 'at', 'accepted'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type MovedTable = keyof typeof MOVED_TABLES;
export type MovedRow = Readonly<Record<string, string | number | null>>;

export const isMovedTable = (name: string): name is MovedTable => Object.hasOwn(MOVED_TABLES, name);

/** A store from which another one takes everything. No gateway has it open. Reads are synchronous, calls throw `StateFailure`. */
export interface MoveSource {
  readonly version: number;
  /** The largest id that a lease has had: a spool may name one that is gone. */
  readonly lastLease: number;
  /** The first day (UTC) whose rows of the ledger were not dropped; empty: none was. */
  readonly droppedBefore: string;
  /** Whether a move has begun. */
  readonly isMarked: boolean;
  /** All rows of a table, in pieces, in the order in which they were written where that counts. */
  rows(table: MovedTable): Iterable<readonly MovedRow[]>;
  /** Days (UTC) that have rows of the ledger. */
  days(): readonly string[];
  countRows(day: string): number;
  ledgerRows(query: LedgerQuery): Iterable<readonly LedgerRow[]>;
  rollups(query: RollupQuery): readonly RollupRow[];
  verify(): AuditVerdict;
  /** From now on no gateway opens the store. @param to names the store that takes its place, for people */
  mark(to: string, isDone: boolean): void;
  close(): void;
}

/** `other`: it has objects, counts or rows of its own, or those of a third store. */
export type MoveState = 'empty' | 'begun' | 'done' | 'other';

/** A store that takes over another one. Every method may be repeated, after an end at any point too. Rejects with `StateFailure`. */
export interface MoveTarget {
  readonly ledger: Pick<Ledger, 'append' | 'rollups'>;
  /** How far the move of a store has come. @param epoch the ids of its epochs. Writes nothing. */
  state(epoch: readonly string[]): Promise<MoveState>;
  /** Makes the tables. No gateway opens the store until `finish`. */
  begin(source: Pick<MoveSource, 'rows'>): Promise<void>;
  countRows(day: string): Promise<number>;
  /** The sums of a day whose rows were dropped, in place of those that are there. @param sums by all dimensions */
  putSums(day: string, sums: readonly RollupRow[]): Promise<void>;
  /** Everything but the ledger, in one transaction that is kept if what was written equals the source. */
  finish(source: MoveSource, name: string): Promise<AuditVerdict>;
  close(): Promise<void>;
}
