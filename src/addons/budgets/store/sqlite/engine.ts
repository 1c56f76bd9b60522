import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEvent } from '../../../../core/ports/audit.ts';
import type {
  Adjustment,
  LeaseRequest,
  Boot,
  CounterRef,
  LeaseId,
  LeaseUsage,
} from '../../../../core/ports/counters.ts';
import type { Actor, EntityChange, EntityRef, KeyUse, Version } from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { KeptAnswer } from '../../../../core/ports/idempotency.ts';
import type { LedgerRow } from '../../../../core/ports/ledger.ts';
import { rowsOfText } from '../rules/row-cells.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { SqliteAudit } from './audit.ts';
import { SqliteCounters } from './counters.ts';
import { Database } from './database.ts';
import { SqliteEntities } from './entities.ts';
import { SqliteLedger } from './ledger.ts';
import { SqliteIdempotency } from './idempotency.ts';
import { migrate, planMigrations } from './migrations.ts';
import { lockStore, type StoreOwner } from './owner-lock.ts';
import { readCallsOf } from './read-calls.ts';
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
}

/** Calls of a thread, or of a test. Times are arguments: the clock is the caller's. */
export type EngineCalls = ReturnType<typeof callsOf>;

/** A store in a folder, open. All of it is synchronous: it belongs in a thread of its own. */
export class Engine {
  readonly calls: EngineCalls;
  readonly #unlock: () => void;
  readonly #db: Database;
  readonly #ledger: SqliteLedger;

  constructor({ folder, owner, keys, now, maxNames, maxPages }: EngineOptions) {
    makeFolder(folder);
    this.#unlock = lockStore(folder, owner, now);
    const opened: (() => void)[] = [this.#unlock];
    try {
      this.#db = new Database(join(folder, 'state.db'), { synchronous: 'FULL' });
      opened.push(() => this.#db.close());
      prepareTables(this.#db, folder, now);
      if (maxPages !== undefined) this.#db.exec(`PRAGMA max_page_count = ${maxPages}`);
      this.#ledger = new SqliteLedger(join(folder, 'ledger'), { maxNames });
      opened.push(() => this.#ledger.close());
      const ring = KeyEncryptionKeys.parse(keys);
      this.calls = callsOf({ db: this.#db, ledger: this.#ledger, folder, keys: ring });
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
    load: (_now: number, since: Version) => entities.load(since),
    write: (now: number, changes: readonly EntityChange[], by: Actor) => entities.write(changes, by, now),
    unseal: (_now: number, ref: EntityRef, field: string) => entities.unseal(ref, field),
    seen: (_now: number, uses: readonly KeyUse[]) => entities.seen(uses),
    lastUses: (_now: number, keyIds: readonly string[]) => entities.lastUses(keyIds),
    take: (now: number, requests: readonly LeaseRequest[], by: Boot, batch: number) =>
      counters.take(requests, by, { batch, now }),
    report: (now: number, used: readonly LeaseUsage[], by: Boot) => counters.report(used, by, now),
    giveBack: (now: number, leases: readonly LeaseId[], by: Boot) => counters.giveBack(leases, by, now),
    reap: (now: number, until: number, boot: Boot['id'] | undefined) => counters.reap(until, boot, now),
    adjust: (now: number, adjustment: Adjustment, by: Actor) => counters.adjust(adjustment, by, now),
    read: (_now: number, refs: readonly CounterRef[]) => counters.read(refs),
    notify: (now: number, counter: CounterRef, bit: number) => counters.notify(counter, bit, now),
    countersAfter: (_now: number, last: CounterRef | undefined) => counters.after(last),
    forget: (_now: number, periodStart: number) => counters.forget(periodStart),
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
