import {
  MAX_NAMES,
  OTHER_NAME,
  type Ledger,
  type LedgerDimension,
  type LedgerName,
  type LedgerQuery,
  type LedgerRow,
  type RowName,
  type RollupQuery,
  type RollupRow,
} from '../../../../core/ports/ledger.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { invalid } from '../rules/checks.ts';
import {
  addCell,
  addRows,
  cellIn,
  checkQuery,
  checkRollupQuery,
  checkRows,
  DAY_MS,
  dayOf,
  isMatch,
  PIECE,
  startOfDay,
  sumCells,
  type RollupCell,
} from '../rules/rollup-cells.ts';

const MAX_KEPT = 500_000;

interface Day {
  readonly rows: Map<string, LedgerRow>;
  readonly names: Map<LedgerDimension, Set<string>>;
  readonly cells: Map<string, RollupCell>;
}

// Kinds are single digits and tries have five, so that names sort as requests and tries do.
const nameOf = ({ req, att, kind }: RowName): string => `${req} ${String(att).padStart(5, '0')} ${KIND_ORDER[kind]}`;
const KIND_ORDER = { try: 0, hit: 1, adjustment: 2, expired: 3 } as const;

export class MemoryLedger implements Ledger {
  readonly #days = new Map<string, Day>();
  /** Sums of the days whose rows were dropped. */
  readonly #dropped = new Map<string, RollupCell>();
  readonly #maxNames: number;
  #droppedBefore = '';
  #foldedBefore = '';
  #size = 0;

  constructor(maxNames = MAX_NAMES) {
    this.#maxNames = maxNames;
  }

  async append(rows: readonly LedgerRow[]): Promise<number> {
    checkRows(rows);
    for (const { at } of rows)
      if (dayOf(at) < this.#droppedBefore) throw invalid(`the ledger of ${dayOf(at)} was dropped`);
    if (this.#size + rows.length > MAX_KEPT)
      throw new StateFailure('full', `the memory holds ${MAX_KEPT} rows of the ledger`);
    let added = 0;
    for (const [day, ofDay] of Map.groupBy(rows, ({ at }) => dayOf(at)))
      added += this.#appendTo(this.#dayOf(day), ofDay);
    this.#size += added;
    return added;
  }

  #dayOf(day: string): Day {
    let found = this.#days.get(day);
    if (!found) this.#days.set(day, (found = { rows: new Map(), names: new Map(), cells: new Map() }));
    return found;
  }

  #appendTo(day: Day, rows: readonly LedgerRow[]): number {
    const added = rows.filter((row) => {
      const name = nameOf(row);
      if (day.rows.has(name)) return false;
      const kept = (dimension: LedgerName): string => this.#kept(day, dimension, row[dimension]);
      day.rows.set(name, {
        ...row,
        key: kept('key'),
        user: kept('user'),
        team: kept('team'),
        organization: kept('organization'),
        config: kept('config'),
        model: kept('model'),
        status: kept('status'),
      });
      return true;
    });
    addRows(day.cells, added, (dimension, name) => this.#kept(day, dimension, name));
    return added.length;
  }

  /** The text, or `OTHER_NAME` if the day has enough others. */
  #kept(day: Day, dimension: LedgerDimension, name: string): string {
    const known = day.names.get(dimension) ?? new Set<string>();
    day.names.set(dimension, known);
    if (known.has(name) || name === '') return name;
    if (known.size >= this.#maxNames) return OTHER_NAME;
    known.add(name);
    return name;
  }

  async rollups(query: RollupQuery): Promise<readonly RollupRow[]> {
    checkRollupQuery(query);
    return sumCells(query, [
      ...this.#dropped.values(),
      ...[...this.#days.values()].flatMap(({ cells }) => [...cells.values()]),
    ]);
  }

  async *rows({ from, to, where = {}, pieces = PIECE, after }: LedgerQuery): AsyncIterable<readonly LedgerRow[]> {
    checkQuery({ from, to, where, pieces, after });
    for (const day of await this.days()) {
      if (after && day < dayOf(after.at)) continue;
      const name = after && day === dayOf(after.at) ? nameOf(after) : '';
      const found = [...(this.#days.get(day)?.rows ?? [])]
        .filter(([own]) => own > name)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([, row]) => row)
        .filter((row) => row.at >= from && row.at < to && isMatch(where, (dimension) => row[dimension]));
      for (let start = 0; start < found.length; start += pieces) yield found.slice(start, start + pieces);
    }
  }

  async dropBefore(day: string): Promise<number> {
    startOfDay(day);
    const old = [...this.#days].filter(([name]) => name < day);
    if (day > this.#droppedBefore) this.#droppedBefore = day;
    for (const [name, { rows, cells }] of old) {
      for (const cell of cells.values()) addCell(cellIn(this.#dropped, startOfDay(name), cell.names), cell);
      this.#size -= rows.size;
      this.#days.delete(name);
    }
    return old.length;
  }

  async foldOldest(day: string): Promise<boolean> {
    startOfDay(day);
    const name = (await this.days()).find((one) => one >= this.#foldedBefore && one < day);
    if (name === undefined) return false;
    const { cells } = this.#days.get(name)!;
    const hours = [...cells.values()];
    cells.clear();
    for (const cell of hours) addCell(cellIn(cells, startOfDay(name), cell.names), cell);
    this.#foldedBefore = dayOf(startOfDay(name) + DAY_MS);
    return true;
  }

  async forgetSums(day: string): Promise<number> {
    const start = startOfDay(day);
    const old = [...this.#dropped].filter(([, cell]) => cell.start < start);
    for (const [key] of old) this.#dropped.delete(key);
    return old.length;
  }

  async days(): Promise<readonly string[]> {
    return [...this.#days.keys()].sort();
  }
}
