import {
  DURATION_BUCKETS,
  LEDGER_DIMENSIONS,
  LEDGER_KINDS,
  LEDGER_NAMES,
  LEDGER_SOURCES,
  LEDGER_SUMS,
  MAX_LEDGER_LABELS,
  MAX_ROWS,
  ROLLUP_DIMENSIONS,
  sumName,
  type LedgerQuery,
  type LedgerRow,
  type LedgerSum,
  type RollupDimension,
  type RollupQuery,
  type RollupRow,
  type RowName,
} from '../../../../core/ports/ledger.ts';
import type { CellSums, RollupCell, WantedCells } from '../../../../core/ports/store-rules.ts';
import { ZoneDays } from '../../../../core/ports/zone-days.ts';
import { parseJson } from '../../../../formats/json/object.ts';
import { checkInteger, invalid } from './checks.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const BUCKETS = DURATION_BUCKETS.length + 1;
const REQ = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAX_NAME = 256;
/** Three names of 64 characters and values of 128, each of which JSON may write as six: \u0001. A longer text would keep its row out. */
const MAX_LABELS = 2_560;

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
  checkName(row.labels, MAX_LABELS);
}

function checkName(name: string, most = MAX_NAME): void {
  if (typeof name !== 'string' || name.length > most) throw invalid(`a name of a row has at most ${most} characters`);
}

export const PIECE = 500;
const MAX_PIECE = 1_000;

export function checkQuery({ from, to, where = {}, after, pieces = PIECE }: LedgerQuery): void {
  checkInteger('the rows of a piece', pieces, 1, MAX_PIECE);
  if (after) checkRowName(after);
  checkTime(from, to);
  checkConditions(where, LEDGER_DIMENSIONS);
}

function checkTime(from: number, to: number): void {
  checkInteger('from', from, 0, LATEST);
  checkInteger('to', to, from, LATEST);
}

function checkConditions(where: Readonly<Record<string, readonly string[]>>, known?: readonly string[]): void {
  for (const [name, values] of Object.entries(where))
    if (known?.includes(name) === false || values.length > 200)
      throw invalid('a condition has at most 200 values of a dimension');
}

const isUnique = (names: readonly string[]): boolean => new Set(names).size === names.length;

export function checkRollupQuery({ from, to, by, where = {}, labels = [], whereLabels = {} }: RollupQuery): void {
  checkTime(from, to);
  checkConditions(where, ROLLUP_DIMENSIONS);
  checkConditions(whereLabels);
  if (by.some((name) => !ROLLUP_DIMENSIONS.includes(name)) || !isUnique(by))
    throw invalid('sums are grouped by dimensions of the ledger, each once');
  if (labels.length > MAX_LEDGER_LABELS || !isUnique(labels))
    throw invalid(`sums are grouped by at most ${MAX_LEDGER_LABELS} labels, each once`);
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
    const names = ROLLUP_DIMENSIONS.map((name) => (name === 'provider' ? providerOf(row) : row[name]));
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

/** The catalog entry of `@openai/gpt-4o`. */
const providerOf = ({ asked }: LedgerRow): string =>
  asked.startsWith('@') ? asked.slice(1, Math.max(1, asked.indexOf('/'))) : '';

function bucketOf(ms: number): number {
  const found = DURATION_BUCKETS.findIndex((bound) => ms <= bound);
  return found < 0 ? DURATION_BUCKETS.length : found;
}

function addCell(into: RollupCell, cell: RollupCell): void {
  for (const sum of [...LEDGER_SUMS, 'requests', 'attempts', 'hits'] as const) into[sum] += cell[sum];
  cell.ms.forEach((count, index) => (into.ms[index]! += count));
  cell.firstMs.forEach((count, index) => (into.firstMs[index]! += count));
}

/** A day of a zone may begin so much before or after that of UTC. */
const WIDEST_MS = 16 * HOUR_MS;

export function cellsWanted({ from, to, by, step, zone, labels = [], whereLabels = {} }: RollupQuery): WantedCells {
  const isLabelled = labels.length > 0 || Object.keys(whereLabels).length > 0;
  const more = zone === undefined ? 0 : WIDEST_MS;
  return {
    from: Math.floor((from - more) / HOUR_MS) * HOUR_MS,
    to: Math.ceil((to + more) / HOUR_MS) * HOUR_MS,
    by: isLabelled && !by.includes('labels') ? [...by, 'labels'] : by,
    span: step === 'hour' || zone !== undefined ? HOUR_MS : DAY_MS,
  };
}

/** Where a cell is shown; undefined: not in the time of the query. */
function timesOf(
  { from, to, step, zone }: RollupQuery,
  hoursSince: number,
): (start: number) => { readonly start: number; readonly day?: RollupRow['day'] } | undefined {
  if (zone === undefined)
    return (start) => ({ start: step === 'all' ? from : step === 'day' ? start - (start % DAY_MS) : start });
  const days = new ZoneDays(zone);
  const [first, last] = [Math.floor(from / HOUR_MS) * HOUR_MS, Math.ceil(to / HOUR_MS) * HOUR_MS];
  return (cell) => {
    const date = cell - (cell % DAY_MS);
    const isFolded = cell < hoursSince;
    const at = isFolded ? days.startOf(date) : cell;
    if (at < first || at >= last) return undefined;
    if (step === 'all') return { start: from };
    if (isFolded) return { start: date, day: days.offsetAt(date) === 0 ? undefined : 'utc' };
    if (step === 'hour') return { start: cell };
    const start = days.startOf(days.dateOf(cell));
    return { start, day: start < hoursSince ? 'cut' : undefined };
  };
}

/** Texts of labels that are not read again while they come. Years may have millions. */
const MAX_READ = 10_000;

/** The labels of a text as the ledger has it. */
function labelsReader(): (text: string) => ReadonlyMap<string, string> {
  const read = new Map<string, ReadonlyMap<string, string>>();
  return (text) => {
    let labels = read.get(text);
    if (!labels && read.size >= MAX_READ) read.clear();
    // No object: a label may be named `constructor`.
    if (!labels) read.set(text, (labels = new Map(Object.entries((parseJson(text || '{}') ?? {}) as LabelsOfRow))));
    return labels;
  };
}

type LabelsOfRow = Readonly<Record<string, string>>;

/** The answer to a query from the cells of its time and names. No cell is kept: a query of years has millions. */
export function sumsOf(query: RollupQuery, hoursSince: number): CellSums {
  const { by, labels = [], whereLabels = {}, most = Infinity } = query;
  const sums = new Map<string, { readonly cell: RollupCell; readonly day: RollupRow['day'] }>();
  const places = by.map((dimension) => ROLLUP_DIMENSIONS.indexOf(dimension));
  const timeOf = timesOf(query, hoursSince);
  const labelsOf = labelsReader();
  const wanted = Object.entries(whereLabels);
  const add = (cell: RollupCell): void => {
    const time = timeOf(cell.start);
    const own = labelsOf(cell.names[LABELS]!);
    if (!time || wanted.some(([name, values]) => !values.includes(own.get(name) ?? ''))) return;
    const names = [...places.map((place) => cell.names[place]!), ...labels.map((name) => own.get(name) ?? '')];
    const key = sumName(time, names);
    let sum = sums.get(key);
    if (!sum) sums.set(key, (sum = { cell: emptyCell(time.start, names), day: time.day }));
    if (sums.size > most)
      throw invalid(`the answer has more than ${most} sums: choose a shorter time, a longer step or fewer names`);
    addCell(sum.cell, cell);
  };
  const rows = (): RollupRow[] =>
    [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, { cell, day }]) => toRow(cell, by, labels, day));
  return { add, rows };
}

const LABELS = ROLLUP_DIMENSIONS.indexOf('labels');

function toRow(
  { names, ...cell }: RollupCell,
  by: readonly RollupDimension[],
  labels: readonly string[],
  day: RollupRow['day'],
): RollupRow {
  const saturated = LEDGER_SUMS.filter((sum) => !Number.isSafeInteger(cell[sum]));
  for (const sum of saturated) cell[sum] = Math.sign(cell[sum]) * Number.MAX_SAFE_INTEGER;
  return {
    ...cell,
    saturated,
    names: Object.fromEntries(by.map((dimension, index) => [dimension, names[index]])),
    labels: Object.fromEntries(labels.map((name, index) => [name, names[by.length + index]!])),
    ...(day && { day }),
  };
}
