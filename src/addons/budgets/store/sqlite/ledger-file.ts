import type { SQLInputValue } from 'node:sqlite';
import {
  LEDGER_DIMENSIONS,
  LEDGER_KINDS,
  LEDGER_NAMES,
  LEDGER_SOURCES,
  LEDGER_SUMS,
  OTHER_NAME,
  ROLLUP_DIMENSIONS,
  type LedgerQuery,
  type LedgerRow,
  type RollupCondition,
  type RollupDimension,
  type RollupQuery,
  type RowName,
} from '../../../../core/ports/ledger.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { BUCKETS, cellsOf, cellsWanted, emptyCell } from '../rules/rollup-cells.ts';
import type { RollupCell } from '../../../../core/ports/store-rules.ts';
import { Database } from './database.ts';

/** The version of these tables. A file of a day is written once: later releases read old versions and never change them. */
const TABLES = 1;

/** Texts of a row that are stored once a day, as numbers. The place of one is its kind in the table of names: the list may grow at its end only. */
const ROW_TEXTS = [...LEDGER_NAMES, 'asked', 'tier', 'geo', 'priceVersion', 'labels'] as const;
type LedgerText = (typeof ROW_TEXTS)[number];
const TEXTS: readonly (LedgerText | 'provider')[] = [...ROW_TEXTS, 'provider'];

const counts = (prefix: string): string[] => Array.from({ length: BUCKETS }, (_, index) => `${prefix}${index}`);
const SUMMED = [...LEDGER_SUMS, 'requests', 'attempts', 'hits', ...counts('ms'), ...counts('first')];
const FIRST_TEXTS = ROW_TEXTS.filter((text) => text !== 'labels');
const LATER_DIMENSIONS = ROLLUP_DIMENSIONS.slice(LEDGER_DIMENSIONS.length);
const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
const typed = (names: readonly string[]): string => names.map((name) => `"${name}" INTEGER NOT NULL`).join(', ');

const ROW_COLUMNS = [
  'req',
  'att',
  'kind',
  'at',
  'src',
  ...ROW_TEXTS,
  ...LEDGER_SUMS,
  'held',
  'ms',
  'firstMs',
  'requestId',
];
const CELL_COLUMNS = ['start', ...ROLLUP_DIMENSIONS, ...SUMMED];

/** The dimensions that earlier releases do not write have a default. */
function createCells(name: string): string {
  const dimensions = [
    typed(LEDGER_DIMENSIONS),
    ...LATER_DIMENSIONS.map((dimension) => `"${dimension}" INTEGER NOT NULL DEFAULT 0`),
  ];
  return `CREATE TABLE ${name} (start INTEGER NOT NULL, ${dimensions.join(', ')}, ${typed(SUMMED)},
    PRIMARY KEY (start, ${quoted(ROLLUP_DIMENSIONS)})) STRICT, WITHOUT ROWID`;
}

const CREATE = `
  CREATE TABLE name (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, text TEXT NOT NULL, UNIQUE (kind, text)) STRICT;
  CREATE TABLE ledger (
    req BLOB NOT NULL, att INTEGER NOT NULL, kind INTEGER NOT NULL, at INTEGER NOT NULL, src INTEGER NOT NULL, ${typed(FIRST_TEXTS)},
    ${typed(LEDGER_SUMS)}, held INTEGER NOT NULL, ms INTEGER NOT NULL, firstMs INTEGER, PRIMARY KEY (req, att, kind)) STRICT, WITHOUT ROWID;
  ${createCells('cell')};
  PRAGMA user_version = ${TABLES}`;

/** Columns that files of earlier releases lack. Those releases name their columns: they still work with a file that has more. */
const LATER_COLUMNS = { requestId: 'requestId TEXT', labels: 'labels INTEGER NOT NULL DEFAULT 0' } as const;
/** A primary key cannot grow: the cells move to a table of their own. */
const ADD_DIMENSIONS = `
  ${createCells('wider')};
  INSERT INTO wider (start, ${quoted(LEDGER_DIMENSIONS)}, ${quoted(SUMMED)}) SELECT start, ${quoted(LEDGER_DIMENSIONS)}, ${quoted(SUMMED)} FROM cell;
  DROP TABLE cell;
  ALTER TABLE wider RENAME TO cell`;

const ADD_ROW = `INSERT INTO ledger (${quoted(ROW_COLUMNS)}) VALUES (${ROW_COLUMNS.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
/** Bound of a stored sum: a row whose sum overflows SQLite's integer would fail for ever and block the rows behind it. */
const MOST = 2 ** 62;
const bounded = (sum: number): number => Math.max(-MOST, Math.min(MOST, sum));
/** A sum that stays within the bound. `sum` fails beyond 64 bits; `total` is exact up to 2 ** 53. */
const summed = (sum: string): string => `CAST(max(-${MOST_TEXT}, min(${MOST_TEXT}, total("${sum}"))) AS INTEGER)`;
// An overflow of `+` is a REAL, so that `min` still compares it.
const MOST_TEXT = String(BigInt(MOST));
const added = (sum: string): string => `max(-${MOST_TEXT}, min(${MOST_TEXT}, "${sum}" + excluded."${sum}"))`;
const ADD_CELL = `INSERT INTO cell (${quoted(CELL_COLUMNS)}) VALUES (${CELL_COLUMNS.map(() => '?').join(', ')})
  ON CONFLICT DO UPDATE SET ${SUMMED.map((sum) => `"${sum}" = ${added(sum)}`).join(', ')}`;

/** The cells of a file that no append has widened. */
const NARROW_CELLS = `(SELECT *, ${LATER_DIMENSIONS.map((name) => `0 AS "${name}"`).join(', ')} FROM cell)`;

export interface LedgerCursor {
  readonly req: Uint8Array;
  readonly att: number;
  readonly kind: number;
}

const BEFORE_ALL: LedgerCursor = { req: new Uint8Array(), att: -1, kind: -1 };

/** @param row valid: `checkQuery` */
export const cursorOf = ({ req, att, kind }: RowName): LedgerCursor => ({
  req: Buffer.from(req.replaceAll('-', ''), 'hex'),
  att,
  kind: LEDGER_KINDS.indexOf(kind),
});

interface StoredRow extends Readonly<Record<Exclude<keyof LedgerRow, 'req' | 'requestId' | 'labels'>, number | null>> {
  readonly req: Uint8Array;
  /** Absent in files of earlier releases, as `labels` is. */
  readonly requestId?: string | null;
  readonly labels?: number;
}

/** The owner of the store has made the file and not yet its tables: it has no row. */
export class UnmadeFile extends StateFailure {}

/** The ledger of one day: a file that needs no other. It has its own names, its rows, and their sums by hour. */
export class LedgerFile {
  readonly #db: Database;
  readonly #maxNames: number;
  readonly #readOnly: boolean;
  /** PRAGMA data_version when the names were read. It changes when another connection writes. */
  #version: number | undefined;
  #ids: Map<string, number>[] = [];
  #texts = new Map<number, string>();
  #isWhole = false;

  constructor(
    path: string,
    { maxNames, readOnly = false }: { readonly maxNames: number; readonly readOnly?: boolean },
  ) {
    this.#db = new Database(path, { synchronous: 'NORMAL', readOnly });
    this.#maxNames = maxNames;
    this.#readOnly = readOnly;
    const version = this.#db.get<{ user_version: number }>('PRAGMA user_version')!.user_version;
    if (version > TABLES) throw new StateFailure('newer_store', `a later release has written ${path}`);
    if (version === 0 && readOnly) {
      this.#db.close();
      throw new UnmadeFile('unavailable', `${path} is just being made`);
    }
    if (version === 0) this.#db.transaction(() => this.#db.exec(CREATE));
    this.#readNames();
  }

  get database(): Database {
    return this.#db;
  }

  close(): void {
    this.#db.close();
  }

  append(rows: readonly LedgerRow[]): number {
    return this.transaction(() => {
      this.#addColumns();
      const added = rows.filter((row) => this.#db.run(ADD_ROW, ...this.#valuesOf(row)) === 1);
      this.addCells(cellsOf(added));
      return added.length;
    });
  }

  /** Within a transaction of the caller. */
  #addColumns(): void {
    if (this.#isWhole) return;
    for (const [name, column] of Object.entries(LATER_COLUMNS))
      if (!this.#hasColumn('ledger', name)) this.#db.exec(`ALTER TABLE ledger ADD COLUMN ${column}`);
    if (!this.#hasColumn('cell', 'provider')) this.#db.exec(ADD_DIMENSIONS);
    this.#isWhole = true;
  }

  #hasColumn(table: 'ledger' | 'cell', name: string): boolean {
    return this.#db.get(`SELECT 1 FROM pragma_table_info('${table}') WHERE name = ?`, name) !== undefined;
  }

  /** Within a transaction of the caller. */
  addCells(cells: Iterable<RollupCell>): void {
    this.#addColumns();
    for (const cell of cells) {
      const names = ROLLUP_DIMENSIONS.map((dimension, index) => this.#idOf(dimension, cell.names[index]!));
      const sums = LEDGER_SUMS.map((sum) => bounded(cell[sum]));
      const { start, requests, attempts, hits, ms, firstMs } = cell;
      this.#db.run(ADD_CELL, start, ...names, ...sums, requests, attempts, hits, ...ms, ...firstMs);
    }
  }

  /** Adds up all cells of the file into cells with one start, that of the day. */
  foldHours(start: number): void {
    const dimensions = quoted(ROLLUP_DIMENSIONS);
    const sums = SUMMED.map(summed).join(', ');
    this.transaction(() => {
      this.#addColumns();
      this.#db.exec(
        `CREATE TEMP TABLE folded AS SELECT ${start}, ${dimensions}, ${sums} FROM cell GROUP BY ${dimensions};
         DELETE FROM cell;
         INSERT INTO cell (${quoted(CELL_COLUMNS)}) SELECT * FROM folded;
         DROP TABLE folded`,
      );
    });
  }

  forgetCells(before: number): number {
    return this.#db.transaction(() => this.#db.run('DELETE FROM cell WHERE start < ?', before));
  }

  /** Runs a transaction. Forgets the names and columns that a failed one added. */
  transaction<Result>(task: () => Result): Result {
    try {
      return this.#db.transaction(task);
    } catch (error) {
      this.#isWhole = false;
      this.#readNames();
      throw error;
    }
  }

  rowsAfter(
    { from, to, where = {} }: LedgerQuery,
    cursor: LedgerCursor | undefined,
    limit: number,
  ): { rows: LedgerRow[]; last?: LedgerCursor } {
    return this.#atOneMoment(() => {
      const [condition, values] = this.#conditionOf(where);
      const { req, att, kind } = cursor ?? BEFORE_ALL;
      const place = [req, att, kind, from, to, ...values, limit];
      const found = this.#db.all<StoredRow>(
        `SELECT * FROM ledger WHERE (req, att, kind) > (?, ?, ?) AND at >= ? AND at < ?${condition} ORDER BY req, att, kind LIMIT ?`,
        ...place,
      );
      const last = found.at(-1);
      const rows = found.map((row) => this.#rowOf(row));
      return last && found.length === limit
        ? { rows, last: { req: last.req, att: last.att!, kind: last.kind! } }
        : { rows };
    });
  }

  /** The sums of a query, one after the other; the dimensions that it does not distinguish are empty. */
  eachCell(query: RollupQuery, task: (cell: RollupCell) => void): void {
    this.#atOneMoment(() => this.#eachCell(query, task));
  }

  /** Rows come with their names, which the owner of the store may add at any time. */
  #atOneMoment<Result>(task: () => Result): Result {
    if (!this.#readOnly) return task();
    this.#db.exec('BEGIN');
    try {
      const version = this.#db.get<{ data_version: number }>('PRAGMA data_version')!.data_version;
      if (version !== this.#version) this.#readNames();
      this.#version = version;
      return task();
    } finally {
      this.#db.exec('COMMIT');
    }
  }

  #eachCell(query: RollupQuery, task: (cell: RollupCell) => void): void {
    const { from, to, span, by: wanted } = cellsWanted(query);
    const [condition, values] = this.#conditionOf(query.where ?? {});
    const sums = SUMMED.map((sum) => `${summed(sum)} AS "${sum}"`).join(', ');
    const by = wanted.length > 0 ? `, ${quoted(wanted)}` : '';
    const table = this.#isWhole || this.#hasColumn('cell', 'provider') ? 'cell' : NARROW_CELLS;
    const statement = this.#db.prepare(
      `SELECT min(start) AS start${by}, ${sums} FROM ${table} WHERE start >= ? AND start < ?${condition} GROUP BY start / ${span}${by}`,
    );
    // A sum may exceed what a number holds exactly: `sumsOf` cuts it then.
    statement.setReadBigInts(true);
    this.#db.guard(() => {
      for (const row of statement.iterate(from, to, ...values))
        task(this.#cellOf(row as Record<string, bigint>, wanted));
    });
  }

  #cellOf(row: Record<string, bigint>, by: readonly RollupDimension[]): RollupCell {
    const value = (name: string): number => Number(row[name]);
    const names = ROLLUP_DIMENSIONS.map((dimension) =>
      by.includes(dimension) ? this.#textOf(dimension, value(dimension)) : '',
    );
    const cell = emptyCell(value('start'), names);
    for (const sum of [...LEDGER_SUMS, 'requests', 'attempts', 'hits'] as const) cell[sum] = value(sum);
    counts('ms').forEach((name, index) => (cell.ms[index] = value(name)));
    counts('first').forEach((name, index) => (cell.firstMs[index] = value(name)));
    return cell;
  }

  #valuesOf(row: LedgerRow): SQLInputValue[] {
    const values: SQLInputValue[] = [
      Buffer.from(row.req.replaceAll('-', ''), 'hex'),
      row.att,
      LEDGER_KINDS.indexOf(row.kind),
      row.at,
      LEDGER_SOURCES.indexOf(row.src),
    ];
    for (const text of ROW_TEXTS) values.push(this.#idOf(text, row[text]));
    for (const sum of LEDGER_SUMS) values.push(row[sum]);
    values.push(row.held, row.ms, row.firstMs ?? null, row.requestId || null);
    return values;
  }

  #rowOf(row: StoredRow): LedgerRow {
    const text = (name: LedgerText): string => this.#textOf(name, row[name] ?? 0);
    const texts = Object.fromEntries(ROW_TEXTS.map((name) => [name, text(name)])) as Record<LedgerText, string>;
    const sums = Object.fromEntries(LEDGER_SUMS.map((sum) => [sum, row[sum]!])) as Record<
      (typeof LEDGER_SUMS)[number],
      number
    >;
    const hex = Buffer.from(row.req).toString('hex');
    return {
      req: hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      att: row.att!,
      kind: LEDGER_KINDS[row.kind!]!,
      at: row.at!,
      src: LEDGER_SOURCES[row.src!]!,
      ...texts,
      ...sums,
      held: row.held!,
      ms: row.ms!,
      firstMs: row.firstMs ?? undefined,
      requestId: row.requestId ?? '',
    };
  }

  #conditionOf(where: RollupCondition): [string, number[]] {
    const parts: string[] = [];
    const values: number[] = [];
    for (const dimension of ROLLUP_DIMENSIONS) {
      const names = where[dimension];
      if (!names) continue;
      parts.push(` AND "${dimension}" IN (${names.map(() => '?').join(', ')})`);
      // A text that the day does not have matches nothing.
      for (const name of names) values.push(this.#known(dimension, name) ?? -1);
    }
    return [parts.join(''), values];
  }

  #known(dimension: RollupDimension, name: string): number | undefined {
    if (dimension === 'kind') return LEDGER_KINDS.findIndex((kind) => kind === name);
    if (dimension === 'src') return LEDGER_SOURCES.findIndex((source) => source === name);
    return name === '' ? 0 : this.#ids[TEXTS.indexOf(dimension)]!.get(name);
  }

  #idOf(dimension: RollupDimension | LedgerText, name: string): number {
    if (dimension === 'kind' || dimension === 'src') return this.#known(dimension, name)!;
    if (name === '') return 0;
    const kind = TEXTS.indexOf(dimension);
    const known = this.#ids[kind]!;
    const found = known.get(name);
    if (found !== undefined) return found;
    // One more than the bound: the name for all further ones.
    if (known.size >= this.#maxNames && name !== OTHER_NAME) return this.#idOf(dimension, OTHER_NAME);
    const { id } = this.#db.get<{ id: number }>(
      'INSERT INTO name (kind, text) VALUES (?, ?) RETURNING id',
      kind,
      name,
    )!;
    known.set(name, id);
    this.#texts.set(id, name);
    return id;
  }

  #textOf(dimension: RollupDimension | LedgerText, id: number): string {
    if (dimension === 'kind') return LEDGER_KINDS[id]!;
    if (dimension === 'src') return LEDGER_SOURCES[id]!;
    return this.#texts.get(id) ?? '';
  }

  #readNames(): void {
    this.#ids = TEXTS.map(() => new Map());
    this.#texts = new Map();
    for (const { id, kind, text } of this.#db.all<{ id: number; kind: number; text: string }>(
      'SELECT id, kind, text FROM name',
    )) {
      this.#ids[kind]!.set(text, id);
      this.#texts.set(id, text);
    }
  }
}
