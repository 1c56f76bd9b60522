import { join } from 'node:path';

export const LOCK_FILE = 'owner.db';

/**
 * Makes this process the owner of a spool. The lock is a transaction that stays open: the system frees it when the process ends, however
 * it ends, also in another container. Returns the function that frees it; undefined: a living process has it. Throws where the disk refuses.
 */
export function lockSpool(folder: string): (() => void) | undefined {
  // A gateway without a spool does not load SQLite.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const db = new DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 });
  try {
    db.exec('BEGIN IMMEDIATE');
    return () => db.close();
  } catch (error) {
    db.close();
    // https://www.sqlite.org/rescode.html#busy
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return undefined;
    throw error;
  }
}
