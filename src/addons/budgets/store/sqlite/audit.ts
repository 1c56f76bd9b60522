import {
  MAX_AUDIT_ROWS,
  type AuditEvent,
  type AuditQuery,
  type AuditRow,
  type AuditVerdict,
  type KnownRow,
} from '../../../../core/ports/audit.ts';
import type { Actor } from '../../../../core/ports/entities.ts';
import { checkInteger } from '../rules/checks.ts';
import { announcementOf, ChainKeys, dropOf, nextRow, verifyChain } from '../rules/audit-chain.ts';
import { MAX_ADJUSTMENTS, type AdjustmentRow, type LastRow } from '../../../../core/ports/store-rules.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import type { Database } from './database.ts';

interface StoredAudit extends Omit<AuditRow, 'address' | 'before' | 'after' | 'reason'> {
  readonly address: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string | null;
}

export class SqliteAudit {
  readonly #db: Database;
  readonly #keys: ChainKeys;

  /** @param ring none: rows get hashes without a key */
  constructor(db: Database, ring = KeyEncryptionKeys.none()) {
    this.#db = db;
    this.#keys = new ChainKeys(ring);
  }

  /** Within a transaction of the caller. */
  append(event: AuditEvent, by: Actor, now: number): void {
    this.#insert(nextRow(event, by, { after: this.#last(), at: now, keys: this.#keys }));
  }

  /** Within a transaction of the caller. A row under the old key announces that the first key is another one. */
  announceKey(now: number): void {
    const row = announcementOf({ after: this.#last(), at: now, keys: this.#keys });
    if (row) this.#insert(row);
  }

  readonly #last = (): LastRow | undefined =>
    this.#db.get<LastRow>('SELECT seq, hash, action, kind, id FROM audit ORDER BY seq DESC LIMIT 1');

  #insert(row: AuditRow): void {
    const { address = null, before = null, after = null, reason = null } = row;
    this.#db.insert('audit', { ...row, address, before, after, reason });
  }

  add(event: AuditEvent, by: Actor, now: number): void {
    this.#db.transaction(() => this.append(event, by, now));
  }

  rows({ before, kind, id, limit = MAX_AUDIT_ROWS }: AuditQuery): AuditRow[] {
    checkInteger('a limit', limit, 1);
    return this.#db
      .all<StoredAudit>(
        `SELECT * FROM audit WHERE seq < ? AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR id = ?3) ORDER BY seq DESC LIMIT ?4`,
        before ?? Number.MAX_SAFE_INTEGER,
        kind ?? null,
        id ?? null,
        Math.min(limit, MAX_AUDIT_ROWS),
      )
      .map(rowOf);
  }

  readonly adjustments = (id: string, since: number): AdjustmentRow[] =>
    this.#db.all<AdjustmentRow>(
      `SELECT role, before, after FROM audit WHERE kind = 'counter' AND id = ? AND at > ? ORDER BY seq DESC LIMIT ?`,
      id,
      since,
      MAX_ADJUSTMENTS,
    );

  dropBefore(at: number, by: Actor, now: number): number {
    return this.#db.transaction(() => {
      const kept =
        this.#db.get<{ seq: number }>('SELECT seq FROM audit WHERE at >= ? ORDER BY seq LIMIT 1', at) ??
        this.#db.get<{ seq: number }>('SELECT seq FROM audit ORDER BY seq DESC LIMIT 1');
      const last =
        kept &&
        this.#db.get<{ seq: number; hash: string }>(
          'SELECT seq, hash FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT 1',
          kept.seq,
        );
      if (!last) return 0;
      this.append(dropOf(last), by, now);
      // A trigger forbids deletes. This transaction drops and restores it; any other DELETE still fails.
      const { sql } = this.#db.get<{ sql: string }>(`SELECT sql FROM sqlite_schema WHERE name = 'audit_delete'`)!;
      this.#db.exec('DROP TRIGGER audit_delete');
      const count = this.#db.run('DELETE FROM audit WHERE seq <= ?', last.seq);
      this.#db.exec(sql);
      return count;
    });
  }

  readonly verify = (known?: KnownRow): AuditVerdict => verifyChain(this.#read(), this.#keys, known);

  *#read(): Iterable<AuditRow> {
    for (const row of this.#db.iterate('SELECT * FROM audit ORDER BY seq')) yield rowOf(row as StoredAudit);
  }
}

const rowOf = (row: StoredAudit): AuditRow => ({
  ...row,
  address: row.address ?? undefined,
  before: row.before ?? undefined,
  after: row.after ?? undefined,
  reason: row.reason ?? undefined,
});
