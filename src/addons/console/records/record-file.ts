import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { recordLine } from '../../../core/record/json.ts';
import {
  mayHaveState,
  recordFilter,
  type PlacedLine,
  type RecordJson,
  type RecordQuery,
} from '../../../core/record/record-query.ts';

/** A record as its JSON, with its place among those that ended: microseconds since 1970. */
export type KeptRow = readonly [at: number, id: string, json: string];

export interface KeptPage {
  readonly lines: readonly PlacedLine[];
  readonly more: boolean;
  /** Where the next page begins, if it has no line. */
  readonly last: number | undefined;
  readonly oldest: string | undefined;
}

export interface KeptLimits {
  readonly folder: string;
  readonly days: number;
  readonly maxBytes: number;
}

/** A page looks at no more records than this, whatever it filters by: writes wait meanwhile. */
const MAX_EXAMINED = 10_000;
/** Files of which the oldest is removed when all are too large. */
const PARTS = 8;
const DAY_MS = 86_400_000;
const NAME = /^(\d{4}-\d\d-\d\d)-(\d{3,})\.db$/;

interface OpenFile {
  readonly name: string;
  readonly database: DatabaseSync;
  readonly insert: StatementSync;
}

/** Records in files of SQLite, the latest last: a day begins a file, and so does an eighth of the bytes. Synchronous: it runs in a thread. */
export class RecordFolder {
  readonly #limits: KeptLimits;
  #current: OpenFile | undefined;

  constructor(limits: KeptLimits) {
    this.#limits = limits;
    mkdirSync(limits.folder, { recursive: true, mode: 0o700 });
  }

  add(rows: readonly KeptRow[], now: number): void {
    const { database, insert } = this.#file(now);
    database.exec('BEGIN');
    try {
      for (const [at, id, json] of rows) insert.run(at, id, json);
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }

  find(id: string): string | undefined {
    for (const name of this.#names())
      for (const row of this.#read(name, 'SELECT json FROM records WHERE id = ? ORDER BY at DESC, n DESC LIMIT 1', [
        id,
      ]))
        return String(row['json']);
    return undefined;
  }

  /** Ended requests before the place of the query, the latest first. */
  page(query: RecordQuery): KeptPage {
    const { limit, state, after, since = -Infinity, until = Infinity, whole } = query;
    const filter = recordFilter(query);
    const lines: PlacedLine[] = [];
    const from = after && !after.running ? after.at : Number.MAX_SAFE_INTEGER;
    let [examined, last] = [0, undefined as number | undefined];
    const page = (more: boolean): KeptPage => ({ lines, more, last, oldest: this.#oldest() });
    for (const name of this.#names())
      for (const row of this.#read(name, 'SELECT at, json FROM records WHERE at < ? ORDER BY at DESC, n DESC', [
        from,
      ])) {
        const place = { running: false, at: Number(row['at']) };
        // Lines of one place stay on one page: the next begins after a place.
        if ((lines.length >= limit || examined >= MAX_EXAMINED) && place.at !== last) return page(true);
        // It ended before: it arrived before, too.
        if (place.at < since * 1000) return page(false);
        examined += 1;
        last = place.at;
        // Written by this gateway.
        const record = JSON.parse(String(row['json'])) as RecordJson & { readonly time: string };
        const arrived = Date.parse(record.time);
        const isOf = mayHaveState(record.state as Parameters<typeof mayHaveState>[0], state);
        if (isOf && arrived >= since && arrived < until && (!filter || filter(record)))
          lines.push({ place, line: whole ? record : recordLine(record) });
      }
    return page(false);
  }

  close(): void {
    this.#current?.database.close();
    this.#current = undefined;
  }

  /** The file of now; a new one, when the day or the size says so. */
  #file(now: number): OpenFile {
    const day = new Date(now).toISOString().slice(0, 10);
    const [latest] = this.#names();
    const [, latestDay, number] = NAME.exec(latest ?? '') ?? [];
    const isFull = latest !== undefined && this.#bytesOf(latest) > this.#limits.maxBytes / PARTS;
    const isOf = latestDay === day && !isFull;
    const next = latestDay === day ? Number(number) + 1 : 1;
    const name = isOf ? latest! : `${day}-${String(next).padStart(3, '0')}.db`;
    if (this.#current?.name === name) return this.#current;
    this.close();
    this.#removeOld(now);
    const database = new DatabaseSync(join(this.#limits.folder, name));
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;' +
        'CREATE TABLE IF NOT EXISTS records (n INTEGER PRIMARY KEY, at REAL NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL);' +
        'CREATE INDEX IF NOT EXISTS by_at ON records (at); CREATE INDEX IF NOT EXISTS by_id ON records (id)',
    );
    const insert = database.prepare('INSERT INTO records (at, id, json) VALUES (?, ?, ?)');
    return (this.#current = { name, database, insert });
  }

  /** Before a new file: all of them with one more part are within the bytes. */
  #removeOld(now: number): void {
    const { days, maxBytes, folder } = this.#limits;
    const oldest = new Date(now - days * DAY_MS).toISOString().slice(0, 10);
    let bytes = maxBytes / PARTS;
    for (const name of this.#names()) {
      bytes += this.#bytesOf(name);
      if (name.slice(0, 10) >= oldest && bytes <= maxBytes) continue;
      for (const file of [name, `${name}-wal`, `${name}-shm`]) rmSync(join(folder, file), { force: true });
    }
  }

  readonly #bytesOf = (name: string): number =>
    [name, `${name}-wal`].reduce(
      (sum, file) => sum + (statSync(join(this.#limits.folder, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );

  readonly #names = (): readonly string[] =>
    readdirSync(this.#limits.folder)
      .filter((name) => NAME.test(name))
      .sort()
      .toReversed();

  #oldest(): string | undefined {
    const name = this.#names().at(-1);
    if (name === undefined) return undefined;
    for (const row of this.#read(name, 'SELECT json FROM records ORDER BY at LIMIT 1', []))
      return (JSON.parse(String(row['json'])) as { readonly time: string }).time;
    return undefined;
  }

  *#read(name: string, sql: string, values: readonly (string | number)[]): Generator<Record<string, unknown>> {
    const own = this.#current?.name === name ? this.#current.database : undefined;
    const database = own ?? new DatabaseSync(join(this.#limits.folder, name), { readOnly: true });
    try {
      yield* database.prepare(sql).iterate(...values);
    } finally {
      if (!own) database.close();
    }
  }
}
