import {
  DURATION_BUCKETS,
  LEDGER_DIMENSIONS,
  LEDGER_KINDS,
  LEDGER_NAMES,
  LEDGER_SOURCES,
  LEDGER_SUMS,
  MAX_ROWS,
  type LedgerDimension,
  type LedgerQuery,
  type LedgerRow,
  type LedgerSum,
  type RollupQuery,
  type RollupRow,
  type RowName,
} from '../../../../core/ports/ledger.ts';
import type { RollupCell } from '../../../../core/ports/store-rules.ts';
import { checkInteger, invalid } from './checks.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const BUCKETS = DURATION_BUCKETS.length + 1;
const REQ = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAX_NAME = 256;

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function startOfDay(day: string): number {
  const start = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN;
  if (Number.isNaN(start) || dayOf(start) !== day) throw invalid(`"${day}" is no day such as 2026-11-22`);
  return start;
}

function checkRowName({ req, att, kind, at }: RowName): void {
  if (!REQ.test(req)) throw invalid('the request of a row is a UUID in lower case');
  if (!LEDGER_KINDS.includes(kind)) throw invalid('a row has a kind of the ledger');
  checkInteger('att', att, 0, 65_535);
  checkInteger('at', at, 0, LATEST);
}

export function checkRows(rows: readonly LedgerRow[]): void {
  if (rows.length > MAX_ROWS) throw invalid(`an append has at most ${MAX_ROWS} rows`);
  for (const row of rows) checkRow(row);
}

/** Year 2100: a time in other units than milliseconds does not make a file of its own. */
const LATEST = 4_102_444_800_000;

function checkRow(row: LedgerRow): void {
  checkRowName(row);
  if (!LEDGER_SOURCES.includes(row.src)) throw invalid('a row has a source of the ledger');
  for (const sum of LEDGER_SUMS) checkInteger(sum, row[sum], sum === 'nano' ? -Number.MAX_SAFE_INTEGER : 0);
  for (const amount of [row.held, row.ms, row.firstMs ?? 0]) checkInteger('held, ms and firstMs', amount, 0);
  for (const name of LEDGER_NAMES) checkName(row[name]);
  for (const name of [row.requestId, row.asked, row.tier, row.geo, row.priceVersion]) checkName(name);
}

function checkName(name: string): void {
  if (typeof name !== 'string' || name.length > MAX_NAME)
    throw invalid(`a name of a row has at most ${MAX_NAME} characters`);
}

/** Rows of a piece. */
export const PIECE = 500;
const MAX_PIECE = 1_000;

export function checkQuery({ from, to, where = {}, after, pieces = PIECE }: LedgerQuery): void {
  checkInteger('the rows of a piece', pieces, 1, MAX_PIECE);
  if (after) checkRowName(after);
  checkInteger('from', from, 0, LATEST);
  checkInteger('to', to, from, LATEST);
  for (const [name, values] of Object.entries(where))
    if (!LEDGER_DIMENSIONS.includes(name as LedgerDimension) || values.length > 200)
      throw invalid('a condition has at most 200 values of a dimension');
}

export function checkRollupQuery(query: RollupQuery): void {
  checkQuery(query);
  if (query.by.some((name) => !LEDGER_DIMENSIONS.includes(name)) || new Set(query.by).size !== query.by.length)
    throw invalid('sums are grouped by dimensions of the ledger, each once');
}

export function emptyCell(start: number, names: readonly string[]): RollupCell {
  const sums = Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, 0])) as Record<LedgerSum, number>;
  const counts = (): number[] => Array.from({ length: BUCKETS }, () => 0);
  return { start, names, ...sums, requests: 0, attempts: 0, hits: 0, ms: counts(), firstMs: counts() };
}

function cellIn(cells: Map<string, RollupCell>, start: number, names: readonly string[]): RollupCell {
  let key = String(start);
  for (const name of names) key += `\n${name}`;
  let cell = cells.get(key);
  if (!cell) cells.set(key, (cell = emptyCell(start, names)));
  return cell;
}

export function cellsOf(rows: readonly LedgerRow[]): Iterable<RollupCell> {
  const cells = new Map<string, RollupCell>();
  for (const row of rows) {
    const names = LEDGER_DIMENSIONS.map((dimension) => row[dimension]);
    const cell = cellIn(cells, row.at - (row.at % HOUR_MS), names);
    for (const sum of LEDGER_SUMS) cell[sum] += row[sum];
    if (row.att === 0 && (row.kind === 'try' || row.kind === 'hit')) cell.requests += 1;
    if (row.kind === 'hit') cell.hits += 1;
    if (row.kind !== 'try') continue;
    cell.attempts += 1;
    cell.ms[bucketOf(row.ms)]! += 1;
    if (row.firstMs !== undefined) cell.firstMs[bucketOf(row.firstMs)]! += 1;
  }
  return cells.values();
}

function bucketOf(ms: number): number {
  const found = DURATION_BUCKETS.findIndex((bound) => ms <= bound);
  return found < 0 ? DURATION_BUCKETS.length : found;
}

function addCell(into: RollupCell, cell: RollupCell): void {
  for (const sum of [...LEDGER_SUMS, 'requests', 'attempts', 'hits'] as const) into[sum] += cell[sum];
  cell.ms.forEach((count, index) => (into.ms[index]! += count));
  cell.firstMs.forEach((count, index) => (into.firstMs[index]! += count));
}

export const hoursOf = ({
  from,
  to,
}: Pick<RollupQuery, 'from' | 'to'>): { readonly from: number; readonly to: number } => ({
  from: from - (from % HOUR_MS),
  to: Math.ceil(to / HOUR_MS) * HOUR_MS,
});

/** The answer to a query from the cells of its time and names. Exact, but for sums that are no safe integers any more. */
export function sumCells({ from, by, step }: RollupQuery, cells: Iterable<RollupCell>): RollupRow[] {
  const sums = new Map<string, RollupCell>();
  const places = by.map((dimension) => LEDGER_DIMENSIONS.indexOf(dimension));
  for (const cell of cells) {
    const start = step === 'all' ? from : step === 'day' ? cell.start - (cell.start % DAY_MS) : cell.start;
    const names = places.map((place) => cell.names[place]!);
    addCell(cellIn(sums, start, names), cell);
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, cell]) => toRow(cell, by));
}

function toRow({ names, ...cell }: RollupCell, by: readonly LedgerDimension[]): RollupRow {
  const saturated = LEDGER_SUMS.filter((sum) => !Number.isSafeInteger(cell[sum]));
  for (const sum of saturated) cell[sum] = Math.sign(cell[sum]) * Number.MAX_SAFE_INTEGER;
  return { ...cell, saturated, names: Object.fromEntries(by.map((dimension, index) => [dimension, names[index]])) };
}
