import { join } from 'node:path';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { Database } from './database.ts';

export interface StoreOwner {
  readonly pid: number;
  /** Random, of this run of the process. */
  readonly boot: string;
  readonly host: string;
}

/**
 * Makes this process the only one that writes a store's folder. The lock is a transaction that stays open in a file of its own: the
 * system frees it when the process ends, however it ends. A process id alone is no lock: containers that share a folder have the same
 * ids. The row names the owner for messages.
 */
export function lockStore(folder: string, owner: StoreOwner, now: number): () => void {
  const path = join(folder, 'owner.db');
  const db = new Database(path, { synchronous: 'NORMAL' });
  try {
    db.exec('PRAGMA busy_timeout = 0');
    db.transaction(() => {
      db.exec(
        'CREATE TABLE IF NOT EXISTS owner (pid INTEGER, boot TEXT, host TEXT, since INTEGER) STRICT; DELETE FROM owner',
      );
      db.run('INSERT INTO owner VALUES (?, ?, ?, ?)', owner.pid, owner.boot, owner.host, now);
    });
    db.exec('BEGIN IMMEDIATE');
    return () => db.close();
  } catch (error) {
    const other = isBusy(error) ? ownerOf(db) : undefined;
    db.close();
    if (!isBusy(error)) throw error;
    throw new StateFailure('in_use', `${folder} is in use by ${other ?? 'another process'}: a store has one owner`);
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof StateFailure && error.message.endsWith('database is locked');

function ownerOf(db: Database): string | undefined {
  try {
    const row = db.get<StoreOwner & { since: number }>('SELECT * FROM owner');
    return row && `process ${row.pid} on ${row.host} (boot ${row.boot}, since ${new Date(row.since).toISOString()})`;
  } catch {
    return undefined;
  }
}
