import { join } from 'node:path';
import type { AuditQuery, KnownRow } from '../../../../core/ports/audit.ts';
import type { LedgerQuery, RollupQuery } from '../../../../core/ports/ledger.ts';
import { PIECE } from '../rules/rollup-cells.ts';
import { SqliteAudit } from './audit.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { Database } from './database.ts';
import { SqliteLedger, type LedgerPlace } from './ledger.ts';

/** Reads whose time grows with what the store has: hundreds of milliseconds for the sums of 300,000 rows (measured), and without a bound. */
export type ReadCalls = ReturnType<typeof readCallsOf>;

/** The time comes first in the arguments, as in all calls of a store. */
export function readCallsOf({ audit, ledger }: { readonly audit: SqliteAudit; readonly ledger: SqliteLedger }) {
  return {
    rollups: (_now: number, query: RollupQuery) => ledger.rollups(query),
    rowsAfter: (_now: number, query: LedgerQuery, place: LedgerPlace | undefined) => {
      const { pieces = PIECE } = query;
      return ledger.rowsAfter(query, place, pieces);
    },
    auditRows: (_now: number, query: AuditQuery) => audit.rows(query),
    verifyAudit: (_now: number, known?: KnownRow) => audit.verify(known),
  };
}

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
