import { OTHER_NAME, type LedgerRow } from '../../../../core/ports/ledger.ts';
import type { ConnectionPool } from '../../connect/connections.ts';
import { TEXTS, type LedgerText } from './columns.ts';

/** The number of names beyond the bound, which are one. */
const OTHER = -1;
const MAX_DAYS = 4;

interface NamesOfDay {
  /** By kind. */
  readonly ids: readonly Map<string, number>[];
  /** Kinds of which the day has as many names as it may. */
  readonly full: Set<number>;
}

interface AskedName {
  readonly kind: number;
  readonly text: string;
  readonly place: number;
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

  /** Learns the names of these rows; new ones are written. */
  async learn(day: number, rows: readonly LedgerRow[]): Promise<void> {
    // A standby that lacks the last commits may give their numbers to other names.
    if (this.#connections.breaks !== this.#breaks) this.#days.clear();
    this.#breaks = this.#connections.breaks;
    const { ids, full } = this.#of(day);
    const asked = new Map<string, AskedName>();
    for (const row of rows)
      TEXTS.forEach((name, kind) => {
        const text = storable(row[name]);
        if (text === '' || text === OTHER_NAME || full.has(kind) || ids[kind]!.has(text)) return;
        const key = `${kind} ${text}`;
        if (!asked.has(key)) asked.set(key, { kind, text, place: asked.size });
      });
    if (asked.size === 0) return;
    const names = [...asked.values()];
    const found = await this.#connections.call<readonly [number, number, string][]>('ledger_names', {
      day,
      most: this.#most,
      names,
    });
    for (const [kind, id, text] of found) ids[kind]!.set(text, id);
    for (const { kind, text } of names) if (!ids[kind]!.has(text)) full.add(kind);
  }

  idOf(day: number, name: LedgerText, text: string): number {
    if (text === '') return 0;
    return this.#of(day).ids[TEXTS.indexOf(name)]!.get(storable(text)) ?? OTHER;
  }

  /** The name that the day has for a text. */
  shown(day: number, name: LedgerText, text: string): string {
    return this.idOf(day, name, text) === OTHER ? OTHER_NAME : storable(text);
  }

  #of(day: number): NamesOfDay {
    let names = this.#days.get(day);
    if (!names) this.#days.set(day, (names = { ids: TEXTS.map(() => new Map()), full: new Set() }));
    const [oldest] = this.#days.keys();
    if (this.#days.size > MAX_DAYS && oldest !== undefined && oldest !== day) this.#days.delete(oldest);
    return names;
  }
}

/** PostgreSQL stores no U+0000 and no half of a pair. Callers choose some names, and one must not keep the other rows out. */
export const storable = (text: string): string =>
  /[\0\ud800-\udfff]/.test(text) ? text.toWellFormed().replaceAll('\0', '\ufffd') : text;
