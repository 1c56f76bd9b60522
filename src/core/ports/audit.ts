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
  /**
   * Removes the rows before the first one that is not older than `at`, in one transaction with a row that names the
   * last removed one and its hash: the chain begins there. The last row stays. Returns the number.
   * @param at milliseconds since 1970
   */
  dropBefore(at: number, by: Actor): Promise<number>;
  /**
   * Checks the whole chain.
   * @param known a row that was once the last one, from outside of the store: the chain itself does not show that its
   * last rows were removed
   */
  verify(known?: KnownRow): Promise<AuditVerdict>;
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
  /** From 1, without gaps; from the row after the last removed one where old rows were dropped. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly actor: string;
  readonly role: string;
  readonly address: string | undefined;
  /** The hash of the row before; 64 zeros for the first. */
  readonly prev: string;
  /**
   * Over `prev` and the row as canonical JSON: SHA-256 in 64 hex digits or, with `state.encryption_keys`, HMAC-SHA-256 behind the 16 hex
   * digits of its key's id and a point.
   */
  readonly hash: string;
}

export interface AuditQuery {
  /** Only rows before this one. */
  readonly before?: number | undefined;
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  readonly limit?: number | undefined;
}

export type KnownRow = Pick<AuditRow, 'seq' | 'hash'>;

/** `812:3f0c…`, the number and the hash of a row. Undefined: the text is something else. */
export function readKnownRow(text: string): KnownRow | undefined {
  const [, seq, hash = ''] = /^(\d{1,15}):((?:[0-9a-f]{16}\.)?[0-9a-f]{64})$/.exec(text) ?? [];
  return seq === undefined ? undefined : { seq: Number(seq), hash };
}

/**
 * `none`: no key is needed to make such a row. `key`: only a holder of the key can have made it. `unknown_key`: the key
 * left `state.encryption_keys`, so nothing can be said.
 */
export interface AuditPart {
  readonly from: number;
  readonly to: number;
  readonly proof: 'none' | 'key' | 'unknown_key';
  /** Name of the key. */
  readonly key?: string;
}

/** `seq` and `head`: the number and the hash of the last row. `at`: the first row that does not continue the chain. */
export type AuditVerdict =
  | {
      readonly intact: true;
      readonly rows: number;
      readonly seq: number;
      readonly head: string;
      readonly parts: readonly AuditPart[];
    }
  | { readonly intact: false; readonly at: number; readonly reason: string };
