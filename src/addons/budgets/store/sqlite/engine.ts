import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEvent } from '../../../../core/ports/audit.ts';
import type { CounterRef } from '../../../../core/ports/counters.ts';
import type { Actor, Entities, EntityChange, EntityRef, KeyUse, Version } from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { MAX_ANSWERS, type KeptAnswer } from '../../../../core/ports/idempotency.ts';
import type { LedgerRow } from '../../../../core/ports/ledger.ts';
import { checkAnswer } from '../rules/checks.ts';
import { rowsOfText } from '../rules/row-cells.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { SqliteAudit } from './audit.ts';
import { bootCalls } from './boots.ts';
import { claimCalls } from './claims.ts';
import { outboxCalls } from './outbox.ts';
import { SqliteCounters } from './counters.ts';
import { Database } from './database.ts';
import { SqliteEntities } from './entities.ts';
import { SqliteLedger } from './ledger.ts';
import { migrate, planMigrations } from './migrations.ts';
import { refuseMoved } from './moved-mark.ts';
import { readCallsOf } from './store-reader.ts';
import { copyStore } from './store-copy.ts';
import { messageOf } from '../../../../core/kernel/outside/thrown.ts';

export interface EngineOptions {
  /** Created with its parents if it does not exist; readable by its owner only. */
  readonly folder: string;
  readonly owner: StoreOwner;
  /** Text of `KeyEncryptionKeys`; empty: no secrets. */
  readonly keys: string;
  /** The time of the opening, in milliseconds since 1970. */
  readonly now: number;
  readonly maxNames?: number | undefined;
  /** Pages of state.db, as on a disk that is nearly full. Injected by tests. Default: SQLite's bound. */
  readonly maxPages?: number | undefined;
  /** The store is open in another thread, which writes it. */
  readonly onlyReads?: boolean;
  readonly moves?: boolean;
}

/** Calls of a thread, or of a test. Times are arguments: the clock is the caller's. */
export type EngineCalls = ReturnType<typeof callsOf>;

/** A store in a folder, open. All of it is synchronous: it belongs in a thread of its own. */
export class Engine {
  readonly calls: EngineCalls;
  readonly #unlock: () => void;
  readonly #db: Database;
  readonly #ledger: SqliteLedger;

  constructor({ folder, owner, keys, now, maxNames, maxPages, moves = false }: EngineOptions) {
    makeFolder(folder);
    if (!moves) refuseMoved(folder);
    this.#unlock = lockStore(folder, owner, now);
    const opened: (() => void)[] = [this.#unlock];
    try {
      this.#db = new Database(join(folder, 'state.db'), { synchronous: 'FULL' });
      opened.push(() => this.#db.close());
      prepareTables(this.#db, folder, now);
      if (maxPages !== undefined) this.#db.exec(`PRAGMA max_page_count = ${maxPages}`);
      this.#ledger = new SqliteLedger(join(folder, 'ledger'), { maxNames });
      opened.push(() => this.#ledger.close());
      this.calls = callsOf({ db: this.#db, ledger: this.#ledger, folder, keys: KeyEncryptionKeys.parse(keys) });
      this.calls.useKeys(now);
    } catch (error) {
      for (const close of opened.toReversed()) close();
      throw error;
    }
  }

  close(): void {
    this.#ledger.close();
    this.#db.close();
    this.#unlock();
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StateFailure('unavailable', `${folder}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Before steps change a store that has some, a copy of it is kept beside it. */
function prepareTables(db: Database, folder: string, now: number): void {
  const plan = planMigrations(db);
  const copy = join(folder, `state-before-step-${plan.applied + 1}.db`);
  if (plan.missing.length > 0 && plan.applied > 0 && !existsSync(copy)) db.run('VACUUM INTO ?', copy);
  migrate(db, plan, now);
}

interface EngineParts {
  readonly db: Database;
  readonly ledger: SqliteLedger;
  readonly folder: string;
  readonly keys: KeyEncryptionKeys;
}

function callsOf({ db, ledger, folder, keys }: EngineParts) {
  const audit = new SqliteAudit(db, keys);
  const entities = new SqliteEntities(db, audit, keys);
  const counters = new SqliteCounters(db, audit);
  const idempotency = new SqliteIdempotency(db);
  return {
    ...readCallsOf({ audit, ledger }),
    useKeys: (now: number) => entities.useKeys(now),
    load: (now: number, since: Version) => entities.load(since, now),
    begin: (now: number, epoch: Parameters<Entities['begin']>[0], by: Actor) => entities.begin(epoch, by, now),
    write: (now: number, changes: readonly EntityChange[], by: Actor) => entities.write(changes, by, now),
    unseal: (_now: number, ref: EntityRef, field: string) => entities.unseal(ref, field),
    seen: (_now: number, uses: readonly KeyUse[]) => entities.seen(uses),
    lastUses: (_now: number, keyIds: readonly string[]) => entities.lastUses(keyIds),
    ...counters.calls,
    read: (_now: number, refs: readonly CounterRef[]) => counters.read(refs),
    countersAfter: (_now: number, last: CounterRef | undefined) => counters.after(last),
    forget: (now: number, ageMs: number) => counters.forget(ageMs, now),
    ...bootCalls(db),
    ...claimCalls(db),
    ...outboxCalls(db),
    /** @param rows as `rowsAsText` writes them, or in the same thread as they are */
    append: (_now: number, rows: string | readonly LedgerRow[]) =>
      ledger.append(typeof rows === 'string' ? rowsOfText(rows) : rows),
    dropBefore: (_now: number, day: string) => ledger.dropBefore(day),
    foldOldest: (_now: number, day: string) => ledger.foldOldest(day),
    forgetSums: (_now: number, day: string) => ledger.forgetSums(day),
    days: (_now: number) => ledger.days(),
    addAudit: (now: number, event: AuditEvent, by: Actor) => audit.add(event, by, now),
    dropAudit: (now: number, at: number, by: Actor) => audit.dropBefore(at, by, now),
    findAnswer: (now: number, actor: string, key: string) => idempotency.find(actor, key, now),
    keepAnswer: (now: number, answer: KeptAnswer) => idempotency.keep(answer, now),
    backup: (_now: number, copy: string) => copyStore(folder, copy),
  };
}

class SqliteIdempotency {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(actor: string, key: string, now: number): KeptAnswer | undefined {
    const found = this.#db.get<KeptAnswer>(
      'SELECT * FROM idem WHERE actor = ? AND key = ? AND until > ?',
      actor,
      key,
      now,
    );
    return found && { ...found };
  }

  keep(answer: KeptAnswer, now: number): void {
    checkAnswer(answer);
    const { actor, key, sha256, status, body, until } = answer;
    this.#db.transaction(() => {
      this.#db.run('DELETE FROM idem WHERE until <= ?', now);
      this.#db.insert('idem', { actor, key, sha256, status, body, until }, 'ON CONFLICT DO NOTHING');
      this.#db.run(
        `DELETE FROM idem WHERE rowid IN
         (SELECT rowid FROM idem WHERE actor = ?1 ORDER BY until, rowid LIMIT max(0, (SELECT count(*) FROM idem WHERE actor = ?1) - ?2))`,
        actor,
        MAX_ANSWERS,
      );
    });
  }
}

interface StoreOwner {
  readonly pid: number;
  readonly boot: string;
  readonly host: string;
}

/**
 * Makes this process the only one that writes a store's folder. The lock is a transaction that stays open in a file of its own: the
 * system frees it when the process ends, however it ends. A process id alone is no lock: containers that share a folder have the same
 * ids. The row names the owner for messages.
 */
function lockStore(folder: string, owner: StoreOwner, now: number): () => void {
  const db = new Database(join(folder, 'owner.db'), { synchronous: 'NORMAL' });
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
