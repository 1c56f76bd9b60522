const DURATION = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)$/;
const DURATION_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const BYTES = /^([0-9]+(?:\.[0-9]+)?)(B|KiB|MiB|GiB)$/;
const BYTE_UNITS: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function parseUnits(value: number | string, pattern: RegExp, units: Record<string, number>): number {
  if (typeof value === 'number') return value;
  const match = pattern.exec(value);
  if (!match) throw new RangeError(`cannot read ${JSON.stringify(value)}`);
  return Math.round(Number(match[1]) * units[match[2]!]!);
}

/** `30s`, `500ms`, `1500` → milliseconds. Throws RangeError for other texts, which the schema rejects. */
export const parseDuration = (value: number | string): number => parseUnits(value, DURATION, DURATION_MS);

/** `5m`, `300` → milliseconds, where a number without a unit counts seconds. Throws RangeError for other texts. */
export const parseSeconds = (value: number | string): number =>
  typeof value === 'number' ? value * 1000 : parseDuration(value);

/** `48MiB`, `65536` → bytes. Throws RangeError for other texts. */
export const parseBytes = (value: number | string): number => parseUnits(value, BYTES, BYTE_UNITS);

/** `2027-01-01`, or RFC 3339. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Milliseconds since 1970; undefined for another text. `Date.parse` reads 30 February as 2 March. */
export function readMoment(text: string): number | undefined {
  if (!MOMENT.test(text) || !isDay(text.slice(0, 10))) return undefined;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : moment;
}

function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
