import type { Actor } from './entities.ts';

/**
 * The record of what administrators and the gateway did. Rows form a chain of hashes: a changed, removed or swapped row is found.
 *
 * Writes of entities and adjustments of counters add their rows themselves, in their own transaction. Every method rejects with
 * `StateFailure`.
 */
export interface Audit {
  /** For events without a write: refused writes, logins, exports, reads of content, reloads. */
  add(event: AuditEvent, by: Actor): Promise<void>;
  /** Rows from the newest to the oldest, at most `MAX_AUDIT_ROWS`. */
  rows(query: AuditQuery): Promise<readonly AuditRow[]>;
  /** Checks the whole chain. */
  verify(): Promise<AuditVerdict>;
}

/** Most rows of one answer of `Audit.rows`. */
export const MAX_AUDIT_ROWS = 200;

export interface AuditEvent {
  /** A verb, such as `put`, `delete`, `adjust`, `login`, `refused`. 1 to 64 characters. */
  readonly action: string;
  readonly kind: string;
  readonly id: string;
  /** JSON texts without secrets, or a digest of a secret (`AuditKey`). At most 64 KiB together; longer ones are replaced by their SHA-256. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly reason?: string | undefined;
}

export interface AuditRow extends AuditEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly actor: string;
  readonly role: string;
  readonly address: string | undefined;
  /** The hash of the row before, 64 hex digits; zeros for the first. */
  readonly prev: string;
  /** SHA-256 over `prev` and the row as canonical JSON. */
  readonly hash: string;
}

export interface AuditQuery {
  /** Only rows before this one. */
  readonly before?: number | undefined;
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  readonly limit?: number | undefined;
}

/** `at`: the first row that does not continue the chain. */
export type AuditVerdict =
  | { readonly intact: true; readonly rows: number; readonly head: string }
  | { readonly intact: false; readonly at: number; readonly reason: string };
