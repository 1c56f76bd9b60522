import type { ApiSchemas } from '../../api/shapes.ts';
import { count, NONE } from '../../parts/format.ts';

export type UsageRow = ApiSchemas['usage_row'];

/** The dimensions that costs are split by; labels follow. Each is drilled down to the next. */
export const SPLITS = ['team', 'key', 'model', 'provider'] as const;
export type Split = (typeof SPLITS)[number] | `label.${string}`;
const DRILL: Readonly<Record<string, Split>> = { team: 'key', key: 'model', provider: 'model' };

/** Where a row leads; undefined: to its requests. */
export const nextSplit = (by: Split): Split | undefined => (by.startsWith('label.') ? 'team' : DRILL[by]);

export const nameIn = (row: UsageRow, by: Split): string =>
  (by.startsWith('label.') ? row.labels?.[by.slice('label.'.length)] : row[by as (typeof SPLITS)[number]]) ?? '';

/** `2026-11` in a time zone. */
export const monthAt = (moment: number, timeZone: string): string =>
  new Intl.DateTimeFormat('sv', { timeZone, year: 'numeric', month: '2-digit' }).format(moment);

export function monthAfter(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
}

export const isMonth = (text: string | null): text is string =>
  text !== null && /^20\d\d-(?:0[1-9]|1[0-2])$/.test(text);

/** Dates of a month, `2026-11-01` first. */
export function datesOf(month: string): readonly string[] {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const days = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: days }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`);
}

export interface CostRow {
  readonly name: string;
  readonly nano: number;
  /** In the month before; undefined: nothing. */
  readonly before: number | undefined;
  readonly requests: number;
  readonly tokens: number;
}

export const tokensOf = (row: UsageRow): number =>
  row.input +
  row.cacheRead +
  row.cacheWrite5m +
  row.cacheWrite1h +
  row.output +
  row.inputAudio +
  row.outputAudio +
  row.inputImage +
  row.outputImage;

export const sum = (rows: readonly UsageRow[], of: (row: UsageRow) => number): number =>
  rows.reduce((all, row) => all + of(row), 0);

/** A row for each name, the dearest first. */
export function rowsOf(now: readonly UsageRow[], before: readonly UsageRow[], by: Split): readonly CostRow[] {
  const earlier = new Map(before.map((row) => [nameIn(row, by), row.nano]));
  return [...Map.groupBy(now, (row) => nameIn(row, by))]
    .map(([name, rows]) => ({
      name,
      nano: sum(rows, ({ nano }) => nano),
      before: earlier.get(name),
      requests: sum(rows, ({ requests }) => requests),
      tokens: sum(rows, tokensOf),
    }))
    .toSorted((one, other) => other.nano - one.nano || (one.name < other.name ? -1 : 1));
}

/** `+12 %`, `new`. */
export function changeText(now: number, before: number | undefined): string {
  if (before === undefined || before <= 0) return now > 0 ? 'new' : NONE;
  const change = Math.round((now / before - 1) * 100);
  return `${change > 0 ? '+' : ''}${count(change)} %`;
}

/** Rows that a bar shows by themselves; the rest is one part. */
export const MOST_PARTS = 6;

export interface DayBar {
  readonly date: string;
  /** Nano-USD of each part, in the order of their names, then of all others. */
  readonly parts: readonly number[];
  readonly total: number;
  readonly isUtc: boolean;
}

export interface SplitCosts {
  /** Of the whole month, the dearest first. At most 10,000. */
  readonly rows: readonly CostRow[];
  /** All of a day in one row. */
  readonly days: readonly UsageRow[];
  /** The days of the dearest rows. */
  readonly parts: readonly UsageRow[];
}

export function barsOf(month: string, { rows, days, parts: ofRows }: SplitCosts, by: Split): readonly DayBar[] {
  const names = rows.slice(0, MOST_PARTS).map(({ name }) => name);
  const [ofDate, partsOfDate] = [days, ofRows].map((all) => Map.groupBy(all, ({ date = '' }) => date));
  return datesOf(month).map((date) => {
    const found = ofDate!.get(date) ?? [];
    const named = partsOfDate!.get(date) ?? [];
    const total = sum(found, ({ nano }) => nano);
    const parts = names.map((name) =>
      sum(
        named.filter((row) => nameIn(row, by) === name),
        ({ nano }) => nano,
      ),
    );
    return {
      date,
      parts: [...parts, total - parts.reduce((all, one) => all + one, 0)],
      total,
      isUtc: found.some(({ day }) => day === 'utc'),
    };
  });
}

/** The time zone of days. Zones between whole hours have none, because sums are kept by hours of UTC. */
export function dayZone(zone: 'local' | 'UTC', own: string, offsets: readonly number[]): string {
  return zone === 'UTC' || offsets.some((minutes) => minutes % 60 !== 0) ? 'UTC' : own;
}

/** The entry and the model of `@entry/model`. */
export function placeOf(text: string | null): { readonly provider: string; readonly model: string } | undefined {
  const [, provider = '', model = ''] = /^@([^/]*)\/(.+)$/s.exec(text ?? '') ?? [];
  return model === '' ? undefined : { provider, model };
}

/** A name for a price in the store or in prices.yaml. */
export const priceId = (provider: string, model: string): string =>
  `${provider}-${model}`
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
