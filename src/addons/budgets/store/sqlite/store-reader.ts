import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditQuery, AuditVerdict, KnownRow } from '../../../../core/ports/audit.ts';
import type { CounterRef, CounterState } from '../../../../core/ports/counters.ts';
import type { Loaded } from '../../../../core/ports/entities.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { StoreForReading } from '../../../../core/ports/store-driver.ts';
import { PIECE } from '../rules/rollup-cells.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import type { LedgerQuery, LedgerRow, RollupQuery, RollupRow } from '../../../../core/ports/ledger.ts';
import { SqliteAudit } from './audit.ts';
import { SqliteCounters } from './counters.ts';
import { Database } from './database.ts';
import { SqliteEntities } from './entities.ts';
import { SqliteLedger, type LedgerPlace } from './ledger.ts';
import { planMigrations } from './migrations.ts';

const MOST_ROWS = 1_000;

/** Reads a store that another process may own. */
export class StoreReader {
  readonly #db: Database;
  readonly #folder: string;
  #ledger: SqliteLedger | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    const path = join(folder, 'state.db');
    if (!existsSync(path)) throw new StateFailure('not_found', `${folder} has no store: there is no state.db in it`);
    this.#db = new Database(path, { synchronous: 'FULL', readOnly: true });
    const { missing } = planMigrations(this.#db);
    if (missing.length > 0)
      throw new StateFailure(
        'invalid',
        `the tables of ${folder} are older than this release: \`gatehouse state migrate\` brings them to it, as a move to another store does first`,
      );
  }

  readonly load = (now = Date.now()): Loaded =>
    new SqliteEntities(this.#db, new SqliteAudit(this.#db), KeyEncryptionKeys.none()).load(0, now);
  readonly countersAfter = (last: CounterRef | undefined): readonly CounterState[] =>
    new SqliteCounters(this.#db, new SqliteAudit(this.#db)).after(last);
  readonly rollups = (query: RollupQuery): readonly RollupRow[] => this.#onLedger((ledger) => ledger.rollups(query));

  *ledgerRows(query: LedgerQuery): Iterable<readonly LedgerRow[]> {
    let place: LedgerPlace | undefined;
    do {
      const piece = this.#onLedger((ledger) => ledger.rowsAfter(query, place, MOST_ROWS));
      if (piece.rows.length > 0) yield piece.rows;
      place = piece.next;
    } while (place);
  }

  #onLedger<Result>(read: (ledger: SqliteLedger) => Result): Result {
    this.#ledger ??= new SqliteLedger(join(this.#folder, 'ledger'), { readOnly: true });
    return read(this.#ledger);
  }

  readonly verifyAudit = (ring: KeyEncryptionKeys, known?: KnownRow): AuditVerdict =>
    new SqliteAudit(this.#db, ring).verify(known);

  close(): void {
    this.#ledger?.close();
    this.#db.close();
  }
}

/** The reads of a command. @param keys text of `KeyEncryptionKeys` */
export function readStore(folder: string, keys: string): StoreForReading {
  const store = new StoreReader(folder);
  const ring = KeyEncryptionKeys.parse(keys);
  return {
    entities: { load: async () => store.load() },
    counters: {
      async *all() {
        for (let piece = store.countersAfter(undefined); piece.length > 0; piece = store.countersAfter(piece.at(-1)))
          yield piece;
      },
    },
    ledger: {
      rollups: async (query) => store.rollups(query),
      async *rows(query) {
        yield* store.ledgerRows(query);
      },
    },
    audit: { verify: async (known) => store.verifyAudit(ring, known) },
    close: async () => store.close(),
  };
}

/** Reads whose time grows with what the store has: hundreds of milliseconds for the sums of 300,000 rows (measured), and without a bound. */
export type ReadCalls = ReturnType<typeof readCallsOf>;

/** The time comes first in the arguments, as in all calls of a store. */
export const readCallsOf = ({ audit, ledger }: { readonly audit: SqliteAudit; readonly ledger: SqliteLedger }) => ({
  rollups: (_now: number, query: RollupQuery) => ledger.rollups(query),
  rowsAfter: (_now: number, query: LedgerQuery, place: LedgerPlace | undefined) => {
    const { pieces = PIECE } = query;
    return ledger.rowsAfter(query, place, pieces);
  },
  auditRows: (_now: number, query: AuditQuery) => audit.rows(query),
  verifyAudit: (_now: number, known?: KnownRow) => audit.verify(known),
});

/** Reads a store that another thread has open and writes. */
export class ReadingEngine {
  readonly calls: ReadCalls;
  readonly #db: Database;
  readonly #ledger: SqliteLedger;

  /** @param keys text of `KeyEncryptionKeys` */
  constructor({ folder, keys }: { readonly folder: string; readonly keys: string }) {
    this.#db = new Database(join(folder, 'state.db'), { synchronous: 'FULL', readOnly: true });
    this.#ledger = new SqliteLedger(join(folder, 'ledger'), { readOnly: true });
    this.calls = readCallsOf({ audit: new SqliteAudit(this.#db, KeyEncryptionKeys.parse(keys)), ledger: this.#ledger });
  }

  close(): void {
    this.#ledger.close();
    this.#db.close();
  }
}
