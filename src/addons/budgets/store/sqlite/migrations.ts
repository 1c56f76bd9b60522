import { checksum, missingOf, type AppliedStep, type TableStep } from '../../../../core/ports/table-steps.ts';
import type { Database } from './database.ts';

/** The tables of `state.db`. A step adds tables, indexes, and columns that have a default or may be null. */
export const MIGRATIONS: readonly TableStep[] = [
  {
    number: 1,
    name: 'first tables',
    sql: `
      CREATE TABLE sequence (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO sequence VALUES ('version', 0), ('lease', 0);
      CREATE TABLE entity (
        kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, doc TEXT NOT NULL, updated_by TEXT NOT NULL,
        updated_at INTEGER NOT NULL, gone INTEGER NOT NULL, PRIMARY KEY (kind, id)) STRICT;
      CREATE INDEX entity_version ON entity (version);
      CREATE TABLE key_secret (
        key_id TEXT NOT NULL, slot INTEGER NOT NULL, digest TEXT NOT NULL UNIQUE, last4 TEXT NOT NULL,
        valid_from INTEGER NOT NULL, valid_to INTEGER, PRIMARY KEY (key_id, slot)) STRICT, WITHOUT ROWID;
      CREATE TABLE key_seen (key_id TEXT PRIMARY KEY, last_used_at INTEGER NOT NULL, address TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE sealed (
        kind TEXT NOT NULL, id TEXT NOT NULL, field TEXT NOT NULL, version INTEGER NOT NULL, envelope TEXT NOT NULL,
        PRIMARY KEY (kind, id, field)) STRICT;
      CREATE TABLE key_check (kid TEXT PRIMARY KEY, envelope TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE counter (
        node TEXT NOT NULL, period INTEGER NOT NULL, spent INTEGER NOT NULL, leased INTEGER NOT NULL,
        unreconciled INTEGER NOT NULL, notified INTEGER NOT NULL, PRIMARY KEY (node, period)) STRICT, WITHOUT ROWID;
      CREATE TABLE lease (
        id INTEGER PRIMARY KEY, boot TEXT NOT NULL, node TEXT NOT NULL, period INTEGER NOT NULL, granted INTEGER NOT NULL,
        used INTEGER NOT NULL, expires_at INTEGER NOT NULL, state TEXT NOT NULL) STRICT;
      CREATE UNIQUE INDEX lease_live ON lease (boot, node, period) WHERE state = 'live';
      CREATE INDEX lease_counter ON lease (node, period);
      CREATE INDEX lease_expires ON lease (state, expires_at);
      CREATE TABLE boot (
        id TEXT PRIMARY KEY, host TEXT NOT NULL, role TEXT NOT NULL, version TEXT NOT NULL, config_hash TEXT NOT NULL,
        started_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, batch INTEGER NOT NULL, answer TEXT NOT NULL) STRICT;
      CREATE TABLE adjusted (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
      CREATE TABLE audit (
        seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, role TEXT NOT NULL, address TEXT, action TEXT NOT NULL,
        kind TEXT NOT NULL, id TEXT NOT NULL, before TEXT, after TEXT, reason TEXT, prev TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
      CREATE INDEX audit_object ON audit (kind, id, seq);
      CREATE TRIGGER audit_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are not changed'); END;
      CREATE TRIGGER audit_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are not removed'); END;`,
  },
  {
    number: 2,
    name: 'tokens and kept answers of the admin API',
    sql: `
      CREATE TABLE token_secret (
        key_id TEXT NOT NULL, slot INTEGER NOT NULL, digest TEXT NOT NULL UNIQUE, last4 TEXT NOT NULL,
        valid_from INTEGER NOT NULL, valid_to INTEGER, PRIMARY KEY (key_id, slot)) STRICT, WITHOUT ROWID;
      CREATE TABLE idem (
        actor TEXT NOT NULL, key TEXT NOT NULL, sha256 TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
        until INTEGER NOT NULL, PRIMARY KEY (actor, key)) STRICT;
      CREATE INDEX idem_until ON idem (until);`,
  },
  {
    number: 3,
    name: 'epochs, what gateways show of themselves, claims and the outbox',
    sql: `
      CREATE TABLE epoch (id TEXT PRIMARY KEY, at INTEGER NOT NULL, accepted INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO epoch VALUES (lower(hex(randomblob(16))), 1, 1);
      ALTER TABLE boot ADD COLUMN shown_at INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE boot ADD COLUMN shown_version INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE boot ADD COLUMN refused TEXT;
      CREATE TABLE claim (
        name TEXT PRIMARY KEY, holder TEXT NOT NULL, text TEXT NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX claim_until ON claim (until);
      CREATE TABLE outbox (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL, receiver TEXT NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL,
        due INTEGER NOT NULL, UNIQUE (id, receiver)) STRICT;
      CREATE INDEX outbox_due ON outbox (receiver, due);`,
  },
];

interface MigrationPlan {
  readonly applied: number;
  readonly missing: readonly TableStep[];
}

/** Compares the steps of a store with those of this release. Throws as `missingOf`. */
export function planMigrations(db: Database, migrations: readonly TableStep[] = MIGRATIONS): MigrationPlan {
  const hasTable = db.get(`SELECT 1 FROM sqlite_schema WHERE name = 'migration'`) !== undefined;
  const applied = hasTable ? db.all<AppliedStep>('SELECT number, sha256 FROM migration ORDER BY number') : [];
  return { applied: applied.length, missing: missingOf(applied, migrations) };
}

/** Applies the missing steps, each in a transaction of its own: a failed step leaves the store at the step before it. */
export function migrate(db: Database, { missing }: MigrationPlan, now: number): void {
  for (const migration of missing)
    db.transaction(() => {
      db.exec(
        'CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, at INTEGER NOT NULL) STRICT',
      );
      db.exec(migration.sql);
      const { number, name } = migration;
      db.run('INSERT INTO migration VALUES (?, ?, ?, ?)', number, name, checksum(migration), now);
    });
}
