import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { StateFailure } from '../../../../core/ports/failures.ts';

/** The databases of a store's folder. The ledger comes first: see `copyStore`. */
function databasesIn(folder: string): string[] {
  const ledger = readdirSync(join(folder, 'ledger')).filter((name) => /^(?:dropped|\d{4}-\d\d-\d\d)\.db$/.test(name));
  return [...ledger.sort().map((name) => join('ledger', name)), 'state.db'];
}

/** Copies a store that may be in use, the ledger first: a counter is never behind the rows that it has counted. */
export async function copyStore(folder: string, copy: string): Promise<void> {
  if (!existsSync(join(folder, 'state.db')))
    throw new StateFailure('not_found', `${folder} has no store: there is no state.db in it`);
  if (existsSync(copy)) throw new StateFailure('invalid', `${copy} exists: a backup is a new folder`);
  mkdirSync(join(copy, 'ledger'), { recursive: true, mode: 0o700 });
  for (const name of databasesIn(folder)) await copyDatabase(join(folder, name), join(copy, name));
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(source, to);
    chmodSync(to, OWNER_ONLY);
  } finally {
    source.close();
  }
}

/** Puts a backup into a folder that has no store. Every database is checked before the first is copied. */
export function restoreStore(backup: string, folder: string): void {
  if (!existsSync(join(backup, 'state.db')))
    throw new StateFailure('not_found', `${backup} is no backup: there is no state.db in it`);
  if (existsSync(join(folder, 'state.db')))
    throw new StateFailure('invalid', `${folder} has a store: move it away before another takes its place`);
  const log = logIn(folder) ?? logIn(join(folder, 'ledger'));
  if (log !== undefined)
    throw new StateFailure('invalid', `${log} belongs to a database that was moved away: move it there too`);
  const names = databasesIn(backup);
  for (const name of names) checkDatabase(join(backup, name));
  mkdirSync(join(folder, 'ledger'), { recursive: true, mode: 0o700 });
  // state.db comes last: without it, a restore that was interrupted is no store, and can be repeated.
  for (const name of names) {
    copyFileSync(join(backup, name), join(folder, name));
    // A copy has the mode of its source, and the folder may be open to others.
    chmodSync(join(folder, name), OWNER_ONLY);
  }
}

const OWNER_ONLY = 0o600;

/** SQLite would apply a log that was left behind to the restored database (https://sqlite.org/wal.html#walfile). */
function logIn(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const found = names.find((name) => /\.db-(?:wal|journal)$/.test(name) && !name.startsWith('owner.'));
  return found && join(folder, found);
}

function checkDatabase(path: string): void {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const [first] = db.prepare('PRAGMA integrity_check(1)').all();
    if (first?.['integrity_check'] !== 'ok')
      throw new StateFailure('damaged', `${path} is damaged: ${String(first?.['integrity_check'])}`);
  } finally {
    db.close();
  }
}
