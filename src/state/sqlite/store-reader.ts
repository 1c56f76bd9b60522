import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditVerdict } from '../audit.ts';
import type { CounterState } from '../counters.ts';
import type { Loaded } from '../entities.ts';
import { StateFailure } from '../failures.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { SqliteAudit } from './audit.ts';
import { SqliteCounters } from './counters.ts';
import { Database } from './database.ts';
import { SqliteEntities } from './entities.ts';
import { planMigrations } from './migrations.ts';

/** Reads a store that another process may own. */
export class StoreReader {
  readonly #db: Database;

  constructor(folder: string) {
    const path = join(folder, 'state.db');
    if (!existsSync(path)) throw new StateFailure('not_found', `${folder} has no store: there is no state.db in it`);
    this.#db = new Database(path, { synchronous: 'FULL', readOnly: true });
    const { missing } = planMigrations(this.#db);
    if (missing.length > 0)
      throw new StateFailure(
        'invalid',
        `the tables of ${folder} are older than this release: run \`gatehouse state migrate\``,
      );
  }

  load(): Loaded {
    return new SqliteEntities(this.#db, new SqliteAudit(this.#db), KeyEncryptionKeys.none()).load(0);
  }

  *counters(): Iterable<CounterState> {
    const counters = new SqliteCounters(this.#db, new SqliteAudit(this.#db));
    for (let piece = counters.after(undefined); piece.length > 0; piece = counters.after(piece.at(-1))) yield* piece;
  }

  verifyAudit(): AuditVerdict {
    return new SqliteAudit(this.#db).verify();
  }

  close(): void {
    this.#db.close();
  }
}
