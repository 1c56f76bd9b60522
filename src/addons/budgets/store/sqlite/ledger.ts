import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  MAX_NAMES,
  ROLLUP_DIMENSIONS,
  type LedgerQuery,
  type LedgerRow,
  type RollupQuery,
  type RollupRow,
} from '../../../../core/ports/ledger.ts';
import type { RollupCell } from '../../../../core/ports/store-rules.ts';
import { invalid } from '../rules/checks.ts';
import {
  checkQuery,
  checkRollupQuery,
  cellsWanted,
  checkRows,
  dayOf,
  startOfDay,
  sumsOf,
  DAY_MS,
} from '../rules/rollup-cells.ts';
import { cursorOf, LedgerFile, UnmadeFile, type LedgerCursor } from './ledger-file.ts';

const MAX_OPEN = 4;
const MAX_TRIES = 5;
const DAY_FILE = /^(\d{4}-\d\d-\d\d)\.db$/;
const DROPPED = 'dropped';

export interface LedgerPlace {
  readonly day: string;
  readonly cursor: LedgerCursor | undefined;
}

interface LedgerPiece {
  readonly rows: LedgerRow[];
  readonly next: LedgerPlace | undefined;
}

interface SqliteLedgerOptions {
  readonly maxNames?: number | undefined;
  readonly readOnly?: boolean;
}

/** The days of the ledger, a file each: dropping a day removes a file and scans nothing. */
export class SqliteLedger {
  readonly #folder: string;
  readonly #maxNames: number;
  readonly #open = new Map<string, LedgerFile>();
  readonly #dropped: LedgerFile;
  #droppedBefore: string;
  readonly #readOnly: boolean;

  /** @param readOnly another process may own the store */
  constructor(folder: string, { maxNames = MAX_NAMES, readOnly = false }: SqliteLedgerOptions = {}) {
    this.#folder = folder;
    this.#maxNames = maxNames;
    this.#readOnly = readOnly;
    if (!readOnly) mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#dropped = new LedgerFile(this.#pathOf(DROPPED), { maxNames, readOnly });
    if (!readOnly)
      for (const table of ['dropped', 'folded'])
        this.#dropped.database.exec(`CREATE TABLE IF NOT EXISTS ${table} (before TEXT NOT NULL) STRICT`);
    this.#droppedBefore = this.#readDropped();
    if (!readOnly) this.#removeDropped();
  }

  readonly #readDropped = (): string =>
    this.#dropped.database.get<{ before: string }>('SELECT before FROM dropped')?.before ?? '';

  /** Reads again if the owner of the store has dropped or folded days meanwhile: a day's sums are in its file or in those of the dropped days. */
  #read<Result>(task: () => Result): Result {
    if (!this.#readOnly) return task();
    for (let tries = 1; ; tries += 1) {
      this.#droppedBefore = this.#readDropped();
      const hoursSince = this.#hoursSince();
      const isAsBefore = (): boolean =>
        this.#readDropped() === this.#droppedBefore && this.#hoursSince() === hoursSince;
      try {
        const result = task();
        if (isAsBefore() || tries === MAX_TRIES) return result;
      } catch (error) {
        if (isAsBefore() || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** The first day whose rows were not dropped; empty: none was. */
  get droppedBefore(): string {
    return this.#droppedBefore;
  }

  countRows(day: string): number {
    const found = this.#fileToRead(day)?.database.get<{ count: number }>('SELECT count(*) AS count FROM ledger');
    return found?.count ?? 0;
  }

  append(rows: readonly LedgerRow[]): number {
    checkRows(rows);
    const days = Map.groupBy(rows, ({ at }) => dayOf(at));
    for (const day of days.keys()) if (day < this.#droppedBefore) throw invalid(`the ledger of ${day} was dropped`);
    let added = 0;
    for (const [day, ofDay] of days) added += this.#file(day).append(ofDay);
    return added;
  }

  rollups(query: RollupQuery): RollupRow[] {
    checkRollupQuery(query);
    const { from, to } = cellsWanted(query);
    return this.#read(() => {
      const sums = sumsOf(query, this.#hoursSince());
      this.#dropped.eachCell(query, sums.add);
      for (const day of this.#daysWithin(from, to)) this.#fileToRead(day)?.eachCell(query, sums.add);
      return sums.rows();
    });
  }

  #hoursSince(): number {
    const days = [this.#droppedBefore, this.#foldedBefore()].filter((day) => day !== '');
    return Math.max(0, ...days.map(startOfDay));
  }

  readonly #foldedBefore = (): string =>
    this.#dropped.database.get<{ before: string }>('SELECT before FROM folded')?.before ?? '';

  readonly #daysWithin = (from: number, to: number): string[] =>
    this.days().filter((day) => startOfDay(day) + DAY_MS > from && startOfDay(day) < to);

  /** The next piece of a query, and where the one after it begins; undefined: that was the last. */
  rowsAfter(query: LedgerQuery, place: LedgerPlace | undefined, limit: number): LedgerPiece {
    checkQuery(query);
    const { after } = query;
    const from = place ?? (after && { day: dayOf(after.at), cursor: cursorOf(after) });
    return this.#read(() => {
      for (const day of this.#daysWithin(query.from, query.to)) {
        if (from && day < from.day) continue;
        const file = this.#fileToRead(day);
        if (!file) continue;
        const { rows, last } = file.rowsAfter(query, from?.day === day ? from.cursor : undefined, limit);
        if (rows.length > 0)
          return { rows, next: last ? { day, cursor: last } : { day: nextDay(day), cursor: undefined } };
      }
      return { rows: [], next: undefined };
    });
  }

  dropBefore(day: string): number {
    startOfDay(day);
    const old = this.days().filter((name) => name < day);
    if (day <= this.#droppedBefore) return 0;
    const sums: RollupCell[] = [];
    for (const name of old) {
      const start = startOfDay(name);
      const wholeDay = { from: start, to: start + DAY_MS, by: ROLLUP_DIMENSIONS, step: 'day' } as const;
      this.#file(name).eachCell(wholeDay, (cell) => void sums.push(cell));
    }
    // One transaction: from here on the files count no more, whether the process lives to remove them or not.
    const { database } = this.#dropped;
    this.#dropped.transaction(() => {
      this.#dropped.addCells(sums);
      database.exec('DELETE FROM dropped');
      database.run('INSERT INTO dropped VALUES (?)', day);
    });
    this.#droppedBefore = day;
    this.#removeDropped();
    return old.length;
  }

  /** Free pages stay in the file: it is not written again, and goes as a whole. */
  foldOldest(day: string): boolean {
    startOfDay(day);
    const { database } = this.#dropped;
    const before = this.#foldedBefore();
    const name = this.days().find((one) => one >= before && one < day);
    if (name === undefined) return false;
    // If the process ends between the two, the same day is folded again, which changes nothing.
    this.#file(name).foldHours(startOfDay(name));
    this.#dropped.transaction(() => {
      database.exec('DELETE FROM folded');
      database.run('INSERT INTO folded VALUES (?)', nextDay(name));
    });
    return true;
  }

  readonly forgetSums = (day: string): number => this.#dropped.forgetCells(startOfDay(day));
  readonly days = (): string[] => this.#files().filter((day) => day >= this.#droppedBefore);

  close(): void {
    for (const file of this.#open.values()) file.close();
    this.#open.clear();
    this.#dropped.close();
  }

  readonly #pathOf = (name: string): string => join(this.#folder, `${name}.db`);

  readonly #files = (): string[] =>
    readdirSync(this.#folder)
      .flatMap((name) => DAY_FILE.exec(name)?.[1] ?? [])
      .sort();

  #removeDropped(): void {
    for (const day of this.#files().filter((name) => name < this.#droppedBefore)) {
      this.#open.get(day)?.close();
      this.#open.delete(day);
      for (const suffix of ['-wal', '-shm', '']) rmSync(this.#pathOf(day) + suffix, { force: true });
    }
  }

  readonly #openFile = (name: string): LedgerFile =>
    new LedgerFile(this.#pathOf(name), { maxNames: this.#maxNames, readOnly: this.#readOnly });

  /** Undefined: it has no row yet. */
  #fileToRead(name: string): LedgerFile | undefined {
    try {
      return this.#file(name);
    } catch (error) {
      if (error instanceof UnmadeFile) return undefined;
      throw error;
    }
  }

  #file(name: string): LedgerFile {
    const found = this.#open.get(name) ?? this.#openFile(name);
    this.#open.delete(name);
    this.#open.set(name, found);
    const [oldest] = this.#open;
    if (oldest && this.#open.size > MAX_OPEN) {
      this.#open.delete(oldest[0]);
      oldest[1].close();
    }
    return found;
  }
}

const nextDay = (day: string): string => dayOf(startOfDay(day) + DAY_MS);
