import {
  LEDGER_KINDS,
  LEDGER_SOURCES,
  LEDGER_SUMS,
  ROLLUP_DIMENSIONS,
  type LedgerRow,
} from '../../../../core/ports/ledger.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { RollupCell } from '../../../../core/ports/store-rules.ts';
import type { Transaction } from '../../connect/connections.ts';
import { DAY_DROPPED, isServerFailure, NO_PARTITION, UNIQUE_VIOLATION } from '../../connect/failures.ts';
import type { StoreTools } from '../../connect/store-tools.ts';
import {
  columnOf,
  COUNTS,
  DAY_MS,
  FIRST_COLUMNS,
  MOST_SUM,
  MS_COLUMNS,
  ROW_COLUMNS,
  TEXTS,
  DIMENSIONS,
  SUMMED,
} from './columns.ts';
import { storable, type LedgerNames, type NamesOfDay } from './names.ts';

const COLUMNS = ROW_COLUMNS.map(columnOf).join(', ');
const INCOMING = `CREATE TEMP TABLE incoming (LIKE ledger) ON COMMIT DROP`;
const copyTo = (table: string): string => `COPY ${table} (${COLUMNS}) FROM STDIN`;
const CELL_COLUMNS = ['start', ...DIMENSIONS, ...SUMMED].join(', ');

export const ADD_CELLS = `INSERT INTO ledger_delta (${CELL_COLUMNS}) SELECT ${CELL_COLUMNS} FROM json_populate_recordset(NULL::ledger_delta, $1)`;
/** The sums are those of all rows: they are added if all rows are new. */
const ADD_ROWS = `WITH added AS (INSERT INTO ledger (${COLUMNS}) SELECT ${COLUMNS} FROM incoming ON CONFLICT DO NOTHING RETURNING 1),
  counted AS (SELECT count(*)::integer AS number FROM added), summed AS (${ADD_CELLS} WHERE (SELECT number FROM counted) = $2)
  SELECT number FROM counted`;
/** The rows of `incoming` that this transaction has added. */
const ADDED = `SELECT DISTINCT i.req, i.att, i.kind FROM incoming i JOIN ledger l USING (day, req, att, kind)
  WHERE l.xmin::text = pg_current_xact_id()::xid::text`;

/** Appends those rows of one day that the ledger lacks. Returns their number. */
export async function appendDay(tools: StoreTools, names: LedgerNames, rows: readonly LedgerRow[]): Promise<number> {
  const day = Math.floor(rows[0]!.at / DAY_MS);
  try {
    return await appendTo(day, tools, names, rows);
  } catch (error) {
    if (!isServerFailure(error, NO_PARTITION)) throw error;
    await openDay(tools, day);
    return await appendTo(day, tools, names, rows);
  }
}

export async function openDay({ appends, rules }: StoreTools, day: number): Promise<void> {
  try {
    await appends.one(`SELECT ledger_open_day(${day})`);
  } catch (error) {
    if (!isServerFailure(error, DAY_DROPPED)) throw error;
    throw new StateFailure('invalid', `the ledger of ${rules.ledger.dayOf(day * DAY_MS)} was dropped`);
  }
}

async function appendTo(
  day: number,
  { appends, rules }: StoreTools,
  names: LedgerNames,
  rows: readonly LedgerRow[],
): Promise<number> {
  const { breaks } = appends;
  const ofDay = await names.learn(day, rows);
  const text = rows.map((row) => lineOf(day, row, ofDay)).join('');
  const cellsOf = (some: readonly LedgerRow[]): string =>
    JSON.stringify(Array.from(rules.ledger.cellsOf(some.map((row) => ofDay.shown(row))), deltaOf));
  const cells = cellsOf(rows);
  const copied = async (tx: Transaction, table: string): Promise<void> => {
    await tx.copy(copyTo(table), text);
    // This connection may be one to another server, whose numbers of names are others.
    if (appends.breaks !== breaks) throw new StateFailure('unavailable', 'a connection to the state store has broken');
  };
  try {
    return await appends.transaction(async (tx) => {
      await copied(tx, 'ledger');
      await tx.query(ADD_CELLS, cells);
      return rows.length;
    });
  } catch (error) {
    // The store has some of the rows: the answer to an earlier call was lost.
    if (!isServerFailure(error, UNIQUE_VIOLATION)) throw error;
  }
  return appends.transaction(async (tx) => {
    await copied(tx, 'incoming');
    const [added] = await tx.query<{ number: number }>(ADD_ROWS, cells, rows.length);
    if (added!.number < rows.length && added!.number > 0) {
      const fresh = await addedRows(tx, rows);
      await tx.query(ADD_CELLS, cellsOf(fresh));
    }
    return added!.number;
  }, INCOMING);
}

async function addedRows(tx: Transaction, rows: readonly LedgerRow[]): Promise<readonly LedgerRow[]> {
  const found = await tx.query<{ req: string; att: number; kind: number }>(ADDED);
  const left = new Set(found.map(({ req, att, kind }) => `${req} ${att} ${LEDGER_KINDS[kind]}`));
  // A row that the call has twice counts once.
  return rows.filter(({ req, att, kind }) => left.delete(`${req} ${att} ${kind}`));
}

function lineOf(day: number, row: LedgerRow, names: NamesOfDay): string {
  const cells: (string | number)[] = [
    day,
    row.req,
    row.att,
    LEDGER_KINDS.indexOf(row.kind),
    LEDGER_SOURCES.indexOf(row.src),
    row.at,
  ];
  TEXTS.forEach((name, kind) => cells.push(names.idOf(kind, row[name])));
  for (const sum of LEDGER_SUMS) cells.push(row[sum] || NULL);
  cells.push(row.held || NULL, row.ms || NULL, row.firstMs ?? NULL, row.requestId ? escaped(row.requestId) : NULL);
  return `${cells.join('\t')}\n`;
}

const NULL = String.raw`\N`;

const escaped = (text: string): string =>
  storable(text)
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('\t', String.raw`\t`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`);

const SUM_COLUMNS = LEDGER_SUMS.map((sum) => [sum, columnOf(sum).slice(1, -1)] as const);

export function deltaOf(cell: RollupCell): object {
  const delta: Record<string, string | number> = { start: cell.start };
  ROLLUP_DIMENSIONS.forEach((dimension, index) => (delta[dimension] = cell.names[index]!));
  for (const [sum, column] of SUM_COLUMNS) delta[column] = Math.max(-MOST_SUM, Math.min(MOST_SUM, cell[sum]));
  for (const count of COUNTS) delta[count] = cell[count];
  MS_COLUMNS.forEach((column, index) => (delta[column] = cell.ms[index]!));
  FIRST_COLUMNS.forEach((column, index) => (delta[column] = cell.firstMs[index]!));
  return delta;
}
