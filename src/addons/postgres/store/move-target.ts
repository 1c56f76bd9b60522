import { isDeepStrictEqual } from 'node:util';
import type { AuditVerdict } from '../../../core/ports/audit.ts';
import type { Actor } from '../../../core/ports/entities.ts';
import { StateFailure } from '../../../core/ports/failures.ts';
import { ROLLUP_DIMENSIONS, type Ledger, type RollupRow } from '../../../core/ports/ledger.ts';
import {
  isMovedTable,
  MOVED_TABLES,
  type MovedRow,
  type MovedTable,
  type MoveSource,
  type MoveState,
  type MoveTarget,
} from '../../../core/ports/store-move.ts';
import type { Transaction } from '../connect/connections.ts';
import type { StoreTools } from '../connect/store-tools.ts';
import { migrate, missingSteps } from '../tables/migrations.ts';
import { appendAudit, checkRows } from './audit.ts';
import { ADD_CELLS, deltaOf } from './ledger/append.ts';
import { DAY_MS } from './ledger/columns.ts';
import { storable } from './ledger/names.ts';
import { MOVING } from './move-mark.ts';
import { closeAll, COMMAND_PATIENCE, ledgerOf, toolsOf, type PostgresOptions } from './state-store.ts';

const FINISH_MS = 3_600_000;
const CELLS = 500;
const MAX_ID = 256;
const ACTOR: Actor = { id: 'gatehouse-cli', role: 'operator' };
const TABLES = Object.keys(MOVED_TABLES).filter(isMovedTable);

/** A store in PostgreSQL that takes over another one. Rows of the ledger come first, each day for itself; all others in one transaction. */
export class PostgresMoveTarget implements MoveTarget {
  readonly ledger: Pick<Ledger, 'append' | 'rollups'>;
  readonly #options: PostgresOptions;
  readonly #tools: StoreTools;

  constructor(options: PostgresOptions) {
    this.#options = { patience: COMMAND_PATIENCE, ...options };
    this.#tools = toolsOf(this.#options);
    this.ledger = ledgerOf(this.#tools);
  }

  async state(epoch: readonly string[]): Promise<MoveState> {
    const missing = await missingSteps(this.#tools.reads, this.#options);
    return missing[0]?.number === 1 ? 'empty' : this.#tools.reads.transaction((tx) => stateOf(tx, epoch));
  }

  async begin(source: Pick<MoveSource, 'rows'>): Promise<void> {
    const { reads } = this.#tools;
    await migrate(reads, this.#options);
    const epochs = [...source.rows('epoch')].flat();
    await reads.transaction(async (tx) => {
      await lock(tx);
      const state = await stateOf(
        tx,
        epochs.map(({ id }) => String(id)),
      );
      if (state === 'begun') return;
      if (state !== 'empty') throw new StateFailure('conflict', 'the store has been written to meanwhile');
      await tx.query('INSERT INTO sequence (name, value) VALUES ($1, 1)', MOVING);
      // It names the store that comes: another one is refused from now on.
      await tx.script('DELETE FROM epoch');
      await insert(tx, 'epoch', epochs);
    });
  }

  async countRows(day: string): Promise<number> {
    const [found] = await this.#tools.reads.one<{ count: number }>(
      `SELECT count(*) AS count FROM ledger WHERE day = ${this.#start(day) / DAY_MS}`,
    );
    return found!.count;
  }

  putSums(day: string, sums: readonly RollupRow[]): Promise<void> {
    const start = this.#start(day);
    return this.#tools.reads.transaction(async (tx) => {
      for (const table of ['ledger_sum', 'ledger_delta'])
        await tx.query(`DELETE FROM ${table} WHERE start >= $1 AND start < $2`, start, start + DAY_MS);
      for (let from = 0; from < sums.length; from += CELLS) {
        const cells = sums.slice(from, from + CELLS).map(({ names, ms, firstMs, ...sum }) =>
          deltaOf({
            ...sum,
            start,
            names: ROLLUP_DIMENSIONS.map((name) => storable(names[name] ?? '')),
            ms: [...ms],
            firstMs: [...firstMs],
          }),
        );
        await tx.query(ADD_CELLS, JSON.stringify(cells));
      }
    });
  }

  finish(source: MoveSource, name: string): Promise<AuditVerdict> {
    const tools = this.#tools;
    const { droppedBefore, version } = source;
    return tools.reads.transaction(async (tx) => {
      await tx.script(
        `SET LOCAL statement_timeout = ${FINISH_MS}; SET LOCAL idle_in_transaction_session_timeout = ${FINISH_MS}`,
      );
      await lock(tx);
      for (const table of TABLES) await moveTable(tx, source, table);
      await tx.query(`SELECT setval('lease_id', greatest(1, $1, (SELECT max(id) FROM lease)))`, source.lastLease);
      await tx.query(`UPDATE sequence SET value = $1 WHERE name = 'version'`, version);
      if (droppedBefore !== '')
        await tx.query(
          `UPDATE sequence SET value = $1 WHERE name = 'ledger dropped'`,
          this.#start(droppedBefore) / DAY_MS,
        );
      const verdict = await checkRows(tx, tools.chain.check());
      if (!isDeepStrictEqual(verdict, source.verify())) throw different('the audit');
      await appendAudit(tx, tools, { action: 'migrate', kind: 'store', id: name.slice(-MAX_ID) }, ACTOR);
      await tx.query('DELETE FROM sequence WHERE name = $1', MOVING);
      return verdict;
    });
  }

  readonly close = (): Promise<void> => closeAll(this.#tools);

  readonly #start = (day: string): number => this.#tools.rules.ledger.startOfDay(day);
}

/** In the order of all writers. */
const lock = (tx: Transaction): Promise<unknown> =>
  tx.query(`SELECT FROM sequence WHERE name IN ('version', 'audit') ORDER BY name DESC FOR UPDATE`);

async function stateOf(tx: Transaction, epoch: readonly string[]): Promise<MoveState> {
  const [found] = await tx.query<{ isMoving: boolean; isUsed: boolean; isOf: boolean }>(
    `SELECT EXISTS (SELECT FROM sequence WHERE name = $1) AS "isMoving", EXISTS (SELECT FROM epoch WHERE id = ANY ($2)) AS "isOf",
       EXISTS (SELECT FROM audit) OR EXISTS (SELECT FROM entity) OR EXISTS (SELECT FROM counter) OR EXISTS (SELECT FROM ledger)
         OR EXISTS (SELECT FROM boot) AS "isUsed"`,
    MOVING,
    epoch,
  );
  const { isMoving, isUsed, isOf } = found!;
  if (isMoving) return isOf ? 'begun' : 'other';
  if (isUsed) return isOf ? 'done' : 'other';
  return 'empty';
}

/** Copies a table and compares it: the number of rows, and the sum of each amount of counters to the nano. */
async function moveTable(tx: Transaction, source: MoveSource, table: MovedTable): Promise<void> {
  if (table !== 'audit') await tx.script(`DELETE FROM ${table}`);
  const sums = sumsFrom(table);
  let count = 0;
  for (const rows of source.rows(table)) {
    await insert(tx, table, rows);
    count += rows.length;
    for (const row of rows) for (const [column, sum] of sums) sums.set(column, sum + BigInt(row[column] ?? 0));
  }
  const columns = [...sums.keys()].map((column) => `, coalesce(sum("${column}"), 0)::text AS "${column}"`).join('');
  const [found] = await tx.query<Record<string, string>>(`SELECT count(*)::text AS count${columns} FROM ${table}`);
  const isEqual = [...sums].every(([column, sum]) => found![column] === String(sum));
  if (found!['count'] !== String(count) || !isEqual) throw different(`the table ${table}`);
}

const sumsFrom = (table: MovedTable): Map<string, bigint> =>
  new Map(table === 'counter' ? ['spent', 'leased', 'unreconciled'].map((column) => [column, 0n]) : []);

async function insert(tx: Transaction, table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
  const columns = MOVED_TABLES[table].map((column) => `"${column}"`).join(', ');
  await tx.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
    JSON.stringify(rows),
  );
}

const different = (what: string): StateFailure =>
  new StateFailure('damaged', `${what} differs in the two stores: nothing has moved`);
