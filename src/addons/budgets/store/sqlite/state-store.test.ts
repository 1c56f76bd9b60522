import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeAudit } from '../contract/audit.testkit.ts';
import { describeCounters } from '../contract/counters.testkit.ts';
import { describeEntities } from '../contract/entities.testkit.ts';
import type { Backend } from '../contract/opened-store.testkit.ts';
import { describeStateStore } from '../contract/state-store.testkit.ts';
import { isFull } from '../../../../../test/support/effort.ts';
import { openSqliteStore } from './state-store.ts';

/** @param opened changes the files of the open store */
const backendOf = (name: string, opened: (folder: string) => void): Backend => ({
  name,
  open: async ({ clock, keys, maxNames }) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'));
    const owner = { pid: process.pid, boot: 'a'.repeat(32), host: 'test' };
    const store = await openSqliteStore({ folder, owner, keys, maxNames }, clock);
    opened(folder);
    return {
      store,
      end: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
});

describeStateStore(backendOf('sqlite', () => {}));

// A step of the next release may only expand the tables: this release goes on with all that a store does.
const expanded = backendOf('sqlite, whose tables the next release has expanded meanwhile', (folder) => {
  const db = new DatabaseSync(join(folder, 'state.db'));
  const tables = db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all() as { name: string }[];
  for (const { name } of tables)
    db.exec(
      `ALTER TABLE ${name} ADD COLUMN next_text TEXT NOT NULL DEFAULT 'x'; ALTER TABLE ${name} ADD COLUMN next_null INTEGER;
       CREATE INDEX next_${name} ON ${name} (next_text)`,
    );
  db.exec(
    `CREATE TABLE next (a INTEGER) STRICT; INSERT INTO migration (number, name, sha256, at) VALUES (99, 'next', 'x', 0)`,
  );
  db.close();
});
// The same contract once more.
if (isFull('properties')) {
  describeEntities(expanded);
  describeCounters(expanded);
  describeAudit(expanded);
}
