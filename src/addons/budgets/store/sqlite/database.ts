import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { StateFailure, type StateFailureCode } from '../../../../core/ports/failures.ts';
import { messageOf } from '../../../../core/kernel/outside/thrown.ts';

type SqlRow = Readonly<Record<string, SQLInputValue>>;

interface DatabaseOptions {
  /** FULL: a commit survives a power failure. NORMAL: it survives the end of the process; a power failure may take the last ones. */
  readonly synchronous: 'FULL' | 'NORMAL';
  readonly readOnly?: boolean;
}

/** Another connection may hold the write lock for this long: a backup's, or an operator's. */
const BUSY_MS = 2_000;

/** One SQLite file with its prepared statements. Failures are `StateFailure`. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #path: string;

  constructor(path: string, { synchronous, readOnly = false }: DatabaseOptions) {
    this.#path = path;
    // SQLite gives its other files the mode of the first one; without this, that is readable for all.
    if (!readOnly) createPrivate(path);
    this.#db = this.guard(() => new DatabaseSync(path, { timeout: BUSY_MS, readOnly }));
    try {
      if (readOnly) return;
      this.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON`);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  exec(sql: string): void {
    this.guard(() => this.#db.exec(sql));
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return this.guard(() => Number(this.prepare(sql).run(...values).changes));
  }

  insert(table: string, row: SqlRow, onConflict = ''): void {
    const columns = Object.keys(row);
    const places = columns.map(() => '?');
    this.run(`INSERT INTO ${table} (${columns.join()}) VALUES (${places.join()}) ${onConflict}`, ...Object.values(row));
  }

  /** Writes a row in place of the one with the same key. */
  put(table: string, key: readonly string[], row: SqlRow): void {
    const changed = Object.keys(row).flatMap((name) => (key.includes(name) ? [] : [`${name} = excluded.${name}`]));
    this.insert(table, row, `ON CONFLICT (${key.join()}) DO UPDATE SET ${changed.join()}`);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers know the row of their statement, as with `all`
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.guard(() => this.prepare(sql).get(...values) as Row | undefined);
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.guard(() => this.prepare(sql).all(...values) as Row[]);
  }

  *iterate(sql: string, ...values: SQLInputValue[]): Iterable<unknown> {
    try {
      yield* this.prepare(sql).iterate(...values);
    } catch (error) {
      throw failureOf(error, this.#path);
    }
  }

  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  /** Commits what `task` wrote; nothing of it if `task` throws. */
  transaction<Result>(task: () => Result): Result {
    this.exec('BEGIN IMMEDIATE');
    try {
      const result = task();
      this.exec('COMMIT');
      return result;
    } catch (error) {
      // A full disk ends the transaction by itself.
      if (this.#db.isTransaction) this.exec('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  guard<Result>(task: () => Result): Result {
    try {
      return task();
    } catch (error) {
      throw failureOf(error, this.#path);
    }
  }
}

function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new StateFailure('unavailable', `${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html): the low byte of the extended ones. */
const CODES: Readonly<Record<number, StateFailureCode>> = {
  5: 'unavailable', // BUSY
  6: 'unavailable', // LOCKED
  7: 'unavailable', // NOMEM
  8: 'read_only', // READONLY
  10: 'unavailable', // IOERR
  11: 'damaged', // CORRUPT
  13: 'unavailable', // FULL
  14: 'unavailable', // CANTOPEN
  26: 'damaged', // NOTADB
};

function failureOf(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  const code = CODES[error.errcode & 0xff];
  return code ? new StateFailure(code, `${path}: ${error.message}`, { cause: error }) : error;
}
