import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditVerdict } from '../../../../core/ports/audit.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { LedgerQuery, LedgerRow, RollupQuery, RollupRow } from '../../../../core/ports/ledger.ts';
import { MOVED_TABLES, type MovedRow, type MovedTable, type MoveSource } from '../../../../core/ports/store-move.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { SqliteAudit } from './audit.ts';
import { Database } from './database.ts';
import { Engine, type EngineOptions } from './engine.ts';
import { SqliteLedger } from './ledger.ts';
import { readMark, refuseMoved, writeMark } from './moved-mark.ts';
import { StoreReader } from './store-reader.ts';

/** Documents have kilobytes each. */
const PIECE = 200;

const DIGESTS = (['keys', 'tokens'] as const).map(
  (kind) =>
    `SELECT '${kind}' AS kind, key_id AS id, slot, digest, last4, valid_from, valid_to FROM ${kind.slice(0, -1)}_secret`,
);
/** Tables with other names or columns here. */
const SELECTED: Readonly<Partial<Record<MovedTable, string>>> = {
  secret_digest: `(${DIGESTS.join(' UNION ALL ')})`,
  lease: '(SELECT *, expires_at AS ended_at FROM lease)',
  audit: '(SELECT * FROM audit ORDER BY seq)',
  outbox: '(SELECT * FROM outbox ORDER BY number)',
};

/** The store of a folder for a move: its only owner, which brings it to this release first, unless it reads alone. */
export class SqliteMoveSource implements MoveSource {
  readonly #folder: string;
  readonly #owner: Engine | undefined;
  readonly #reader: StoreReader;
  readonly #db: Database;
  readonly #ledger: SqliteLedger;
  readonly #audit: SqliteAudit;

  constructor(options: EngineOptions, locks: boolean) {
    const { folder, keys } = options;
    if (!existsSync(join(folder, 'state.db')))
      throw new StateFailure('not_found', `${folder} has no store: there is no state.db in it`);
    if (readMark(folder)?.isDone) refuseMoved(folder);
    this.#folder = folder;
    this.#owner = locks ? new Engine({ ...options, moves: true }) : undefined;
    try {
      this.#reader = new StoreReader(folder);
      this.#db = new Database(join(folder, 'state.db'), { synchronous: 'FULL', readOnly: true });
      this.#ledger = new SqliteLedger(join(folder, 'ledger'), { readOnly: true });
      this.#audit = new SqliteAudit(this.#db, KeyEncryptionKeys.parse(keys));
    } catch (error) {
      this.#owner?.close();
      throw error;
    }
  }

  get version(): number {
    return this.#sequence('version');
  }

  get lastLease(): number {
    return this.#sequence('lease');
  }

  readonly #sequence = (name: string): number =>
    this.#db.get<{ value: number }>('SELECT value FROM sequence WHERE name = ?', name)!.value;

  get droppedBefore(): string {
    return this.#ledger.droppedBefore;
  }

  get isMarked(): boolean {
    return readMark(this.#folder) !== undefined;
  }

  *rows(table: MovedTable): Iterable<readonly MovedRow[]> {
    const columns = MOVED_TABLES[table].map((column) => `"${column}"`).join(', ');
    let piece: MovedRow[] = [];
    for (const row of this.#db.iterate(`SELECT ${columns} FROM ${SELECTED[table] ?? table}`)) {
      piece.push(row as MovedRow);
      if (piece.length < PIECE) continue;
      yield piece;
      piece = [];
    }
    if (piece.length > 0) yield piece;
  }

  readonly days = (): readonly string[] => this.#ledger.days();
  readonly countRows = (day: string): number => this.#ledger.countRows(day);
  readonly ledgerRows = (query: LedgerQuery): Iterable<readonly LedgerRow[]> => this.#reader.ledgerRows(query);
  readonly rollups = (query: RollupQuery): readonly RollupRow[] => this.#ledger.rollups(query);
  readonly verify = (): AuditVerdict => this.#audit.verify();

  mark(to: string, isDone: boolean): void {
    writeMark(this.#folder, { to, isDone });
  }

  close(): void {
    this.#ledger.close();
    this.#db.close();
    this.#reader.close();
    this.#owner?.close();
  }
}
