import { OTHER_NAME, type LedgerRow } from '../../../../core/ports/ledger.ts';
import type { ConnectionPool } from '../../connect/connections.ts';
import { TEXTS } from './columns.ts';

/** The number of names beyond the bound, which are one. */
const OTHER = -1;
const MAX_DAYS = 4;

/** The numbers of the names of a day, by their kind: the place in TEXTS. */
export class NamesOfDay {
  readonly ids: readonly Map<string, number>[] = TEXTS.map(() => new Map());
  /** Kinds of which the day has as many names as it may. */
  readonly full = new Set<number>();

  idOf(kind: number, text: string): number {
    const ids = this.ids[kind]!;
    return text === '' ? 0 : (ids.get(text) ?? ids.get(storable(text)) ?? OTHER);
  }

  /** The row with the names that the day has for its texts. */
  shown(row: LedgerRow): LedgerRow {
    let shown = row;
    TEXTS.forEach((name, kind) => {
      const text = row[name];
      if (text === '' || this.ids[kind]!.has(text)) return;
      shown = { ...shown, [name]: this.idOf(kind, text) === OTHER ? OTHER_NAME : storable(text) };
    });
    return shown;
  }
}

/** The numbers that stand for names in the rows of a day. What is known once holds while the day is there, and until a failover loses it. */
export class LedgerNames {
  readonly #connections: ConnectionPool;
  readonly #most: number;
  readonly #days = new Map<number, NamesOfDay>();
  #breaks = 0;

  constructor(connections: ConnectionPool, most: number) {
    this.#connections = connections;
    this.#most = most;
  }

  /** The names of a day with those of these rows; new ones are written. */
  async learn(day: number, rows: readonly LedgerRow[]): Promise<NamesOfDay> {
    // A standby that lacks the last commits may give their numbers to other names.
    if (this.#connections.breaks !== this.#breaks) this.#days.clear();
    this.#breaks = this.#connections.breaks;
    const names = this.#of(day);
    const { ids, full } = names;
    const asked = new Map<string, { readonly kind: number; readonly text: string; readonly place: number }>();
    for (const row of rows)
      TEXTS.forEach((name, kind) => {
        if (row[name] === '' || ids[kind]!.has(row[name])) return;
        const text = storable(row[name]);
        if (text === OTHER_NAME || full.has(kind) || ids[kind]!.has(text)) return;
        const key = `${kind} ${text}`;
        if (!asked.has(key)) asked.set(key, { kind, text, place: asked.size });
      });
    if (asked.size === 0) return names;
    const unknown = [...asked.values()];
    const found = await this.#connections.call<readonly [number, number, string][]>('ledger_names', {
      day,
      most: this.#most,
      names: unknown,
    });
    for (const [kind, id, text] of found) ids[kind]!.set(text, id);
    for (const { kind, text } of unknown) if (!ids[kind]!.has(text)) full.add(kind);
    return names;
  }

  #of(day: number): NamesOfDay {
    let names = this.#days.get(day);
    if (!names) this.#days.set(day, (names = new NamesOfDay()));
    const [oldest] = this.#days.keys();
    if (this.#days.size > MAX_DAYS && oldest !== undefined && oldest !== day) this.#days.delete(oldest);
    return names;
  }
}

/** PostgreSQL stores no U+0000 and no half of a pair. Callers choose some names, and one must not keep the other rows out. */
export const storable = (text: string): string =>
  /[\0\ud800-\udfff]/.test(text) ? text.toWellFormed().replaceAll('\0', '\ufffd') : text;
