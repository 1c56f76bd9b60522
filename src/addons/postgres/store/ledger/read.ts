import {
  LEDGER_DIMENSIONS,
  LEDGER_KINDS,
  LEDGER_SOURCES,
  LEDGER_SUMS,
  OTHER_NAME,
  ROLLUP_DIMENSIONS,
  type LedgerCondition,
  type LedgerQuery,
  type LedgerRow,
  type LedgerSum,
  type RollupDimension,
  type RollupQuery,
  type RollupRow,
  type RowName,
} from '../../../../core/ports/ledger.ts';
import type { CellSums, RollupCell } from '../../../../core/ports/store-rules.ts';
import type { ConnectionPool } from '../../connect/connections.ts';
import type { StoreTools } from '../../connect/store-tools.ts';
import {
  columnOf,
  COUNTS,
  DAY_MS,
  DIMENSIONS,
  FIRST_COLUMNS,
  isName,
  MS_COLUMNS,
  ROW_COLUMNS,
  SUMMED,
  TEXTS,
  type LedgerText,
} from './columns.ts';
import { storable } from './names.ts';

const PIECE = 500;
const OTHER = -1;
const SELECTED = ROW_COLUMNS.map((name) => `l.${columnOf(name)}`).join(', ');

type StoredRow = Readonly<Record<string, number | string | null>>;

/** Rows by day, and by request within a day. Each piece is a query of its own: a consumer may take its time. */
export async function* ledgerRows(tools: StoreTools, query: LedgerQuery): AsyncIterable<readonly LedgerRow[]> {
  const { reads, rules } = tools;
  rules.ledger.checkQuery(query);
  const { from, to, where = {}, pieces = PIECE } = query;
  const conditions = [
    `l.at >= ${from} AND l.at < ${to}`,
    `l.day >= greatest(${Math.floor(from / DAY_MS)}, (SELECT value FROM sequence WHERE name = 'ledger dropped'))`,
    `l.day <= ${Math.floor(to / DAY_MS)}`,
    ...rowConditions(where, reads),
  ];
  let after = query.after && placeOf(query.after);
  for (;;) {
    const place = after ? [`(l.day, l.req, l.att, l.kind) > (${after})`] : [];
    const found = await reads.one<StoredRow>(
      `SELECT ${SELECTED}, (SELECT jsonb_object_agg(n.kind, n.text) FROM ledger_name n WHERE n.day = l.day AND (n.kind, n.id) IN (
         ${TEXTS.map((name, kind) => `(${kind}, l.${columnOf(name)})`).join(', ')})) AS names
       FROM ledger l WHERE ${[...conditions, ...place].join(' AND ')} ORDER BY l.day, l.req, l.att, l.kind LIMIT ${pieces}`,
    );
    const rows = found.map(rowOf);
    if (rows.length > 0) yield rows;
    if (rows.length < pieces) return;
    after = placeOf(rows.at(-1)!);
  }
}

/** @param row valid: its request is a UUID */
const placeOf = ({ at, req, att, kind }: RowName): string =>
  `${Math.floor(at / DAY_MS)}, '${req}', ${att}, ${LEDGER_KINDS.indexOf(kind)}`;

const rowConditions = (where: LedgerCondition, reads: ConnectionPool): string[] =>
  LEDGER_DIMENSIONS.flatMap((dimension) => {
    const wanted = where[dimension];
    if (!wanted) return [];
    if (!isName(dimension)) {
      const list: readonly string[] = dimension === 'kind' ? LEDGER_KINDS : LEDGER_SOURCES;
      return [`l.${dimension} IN (${['-1', ...wanted.map((one) => list.indexOf(one))].join(', ')})`];
    }
    const column = `l.${columnOf(dimension)}`;
    const fixed = [...(wanted.includes('') ? [0] : []), ...(wanted.includes(OTHER_NAME) ? [OTHER] : [])];
    return [
      `(${fixed.map((id) => `${column} = ${id} OR `).join('')}${column} = ANY (ARRAY(SELECT n.id FROM ledger_name n
         WHERE n.day = l.day AND n.kind = ${TEXTS.indexOf(dimension)} AND n.text IN (${texts(wanted, reads)}))))`,
    ];
  });

const texts = (wanted: readonly string[], reads: ConnectionPool): string =>
  ['NULL', ...wanted.map((text) => reads.literal(storable(text)))].join(', ');

function rowOf(row: StoredRow): LedgerRow {
  const names = row['names'] as unknown as Readonly<Record<string, string>> | null;
  const value = (name: string): number | null => row[columnOf(name).slice(1, -1)] as number | null;
  const text = (name: LedgerText, kind: number): string => {
    const id = value(name);
    return id === 0 ? '' : id === OTHER ? OTHER_NAME : (names?.[kind] ?? '');
  };
  return {
    ...(Object.fromEntries(TEXTS.map((name, kind) => [name, text(name, kind)])) as Record<LedgerText, string>),
    ...(Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, value(sum) ?? 0])) as Record<LedgerSum, number>),
    req: String(row['req']),
    requestId: String(row['request_id'] ?? ''),
    att: value('att')!,
    kind: LEDGER_KINDS[value('kind')!]!,
    at: value('at')!,
    src: LEDGER_SOURCES[value('src')!]!,
    held: value('held') ?? 0,
    ms: value('ms') ?? 0,
    firstMs: value('firstMs') ?? undefined,
  };
}

/** The sums of a query: those that are summed up, and those of the last appends. */
export async function ledgerRollups({ reads, rules }: StoreTools, query: RollupQuery): Promise<readonly RollupRow[]> {
  rules.ledger.checkRollupQuery(query);
  const { from, to, span, by: wanted } = rules.ledger.cellsWanted(query);
  const by = wanted.map((dimension) => `, ${columnOf(dimension)}`).join('');
  const conditions = ROLLUP_DIMENSIONS.flatMap((dimension) => {
    const wanted = query.where?.[dimension];
    return wanted ? [` AND ${columnOf(dimension)} IN (${texts(wanted, reads)})`] : [];
  });
  const condition = `start >= ${from} AND start < ${to}${conditions.join('')}`;
  const columns = ['start', ...DIMENSIONS, ...SUMMED].join(', ');
  // All of them are read: without it the plan would be one for the first tenth.
  const declare = `SET LOCAL cursor_tuple_fraction = 1; DECLARE cells NO SCROLL CURSOR FOR
     SELECT ${HOURS_SINCE} AS "hoursSince", min(start) AS start${by}, ${SUMMED.map((sum) => `sum(${sum})::text AS ${sum}`).join(', ')} FROM (
       SELECT ${columns} FROM ledger_sum WHERE ${condition} UNION ALL SELECT ${columns} FROM ledger_delta WHERE ${condition}) AS cells
     GROUP BY start / ${span}${by}`;
  const toCell = cellOf(wanted);
  return reads.transaction(async (tx) => {
    for (let sums: CellSums | undefined; ;) {
      const found = await tx.query<Record<string, string>>(`FETCH ${CELLS} FROM cells`);
      sums ??= rules.ledger.sumsOf(query, Number(found[0]?.['hoursSince'] ?? 0));
      for (const row of found) sums.add(toCell(row));
      if (found.length < CELLS) return sums.rows();
    }
  }, declare);
}

/** Cells that are in memory at a time, of the millions that a query of years may have. */
const CELLS = 2_000;

/** The end of the days that were folded or dropped. */
const HOURS_SINCE = `(SELECT ${DAY_MS} * max(value) FROM sequence WHERE name IN ('ledger folded', 'ledger dropped'))`;

const cellOf =
  (by: readonly RollupDimension[]) =>
  (row: Record<string, string>): RollupCell => {
    // A sum may exceed what a number holds exactly: `sumsOf` cuts it then.
    const value = (column: string): number => Number(row[column]);
    const names = ROLLUP_DIMENSIONS.map((dimension) => (by.includes(dimension) ? row[dimension]! : ''));
    const sums = Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, value(columnOf(sum).slice(1, -1))]));
    const counts = Object.fromEntries(COUNTS.map((count) => [count, value(count)]));
    return {
      ...(sums as Record<LedgerSum, number>),
      ...(counts as Record<(typeof COUNTS)[number], number>),
      start: value('start'),
      names,
      ms: MS_COLUMNS.map(value),
      firstMs: FIRST_COLUMNS.map(value),
    };
  };
