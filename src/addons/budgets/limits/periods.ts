import type { Budget, Span } from '../../../core/tenants/tree.ts';

export type PeriodRule = Pick<Budget, 'period' | 'timeZone' | 'dayOfMonth'>;

const WITHOUT_PERIODS: Span = { start: 0, end: Infinity };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Starts that are worked out at load, so that no request pays for them. */
const AHEAD_MS = 400 * DAY_MS;
/** Zones are between 12 hours behind UTC and 14 ahead of it; Manila and Alaska were further away once. */
const WIDEST_MS = 16 * 3_600_000;
/** A zone has at most some starts at a time; rules and zones come from the settings, which a reload may change often. */
const MAX_TABLES = 1000;

/** Days are the UTC midnights of their dates. */
interface Calendar {
  readonly ms: number;
  /** A first day that is surely not after the day. It may be a period before the day's own. */
  before(day: number, dayOfMonth: number): number;
  /** The first day of the period after the one that begins with the day. */
  after(first: number, dayOfMonth: number): number;
}

const CALENDARS: Readonly<Record<Exclude<Budget['period'], 'hour' | 'total'>, Calendar>> = {
  day: {
    ms: DAY_MS,
    before: (day) => day - DAY_MS,
    after: (first) => first + DAY_MS,
  },
  // From Monday on, as in ISO 8601.
  week: {
    ms: 7 * DAY_MS,
    before: (day) => day - (7 + ((new Date(day).getUTCDay() + 6) % 7)) * DAY_MS,
    after: (first) => first + 7 * DAY_MS,
  },
  month: {
    ms: 31 * DAY_MS,
    before: (day, dayOfMonth) => inMonth(day, -1, dayOfMonth),
    after: (first, dayOfMonth) => inMonth(first, 1, dayOfMonth),
  },
};

/** @param more months after that of the day */
function inMonth(day: number, more: number, dayOfMonth: number): number {
  const date = new Date(day);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more, dayOfMonth);
}

/** The start of a period is a function of rule and time, and a part of the counter's key: no reset can be missed or doubled. */
export class PeriodTable {
  readonly #rule: PeriodRule;
  readonly #calendar: Calendar | undefined;
  readonly #dates: (moment: number) => number;
  /** Ascending. */
  #starts: readonly number[];

  constructor(rule: PeriodRule, from: number) {
    this.#rule = rule;
    this.#dates = localDates(rule.timeZone);
    this.#calendar = rule.period === 'hour' || rule.period === 'total' ? undefined : CALENDARS[rule.period];
    this.#starts = this.#calendar ? this.#startsAround(from, this.#calendar) : [];
  }

  at(moment: number): Span {
    const calendar = this.#calendar;
    if (calendar) return find(this.#starts, moment) ?? this.#further(moment, calendar);
    if (this.#rule.period === 'total') return WITHOUT_PERIODS;
    // Hours are those of UTC: the clocks of a few zones change by half an hour, and an hour of theirs would have 30 or 90 minutes.
    const start = moment - (moment % HOUR_MS);
    return { start, end: start + HOUR_MS };
  }

  #further(moment: number, calendar: Calendar): Span {
    this.#starts = this.#startsAround(moment, calendar);
    return find(this.#starts, moment)!;
  }

  /** From the last start before the moment to the first one more than 400 days after it. */
  #startsAround(moment: number, { ms, before, after }: Calendar): readonly number[] {
    const { dayOfMonth } = this.#rule;
    const starts: number[] = [];
    let date = before(this.#dates(moment), dayOfMonth);
    for (;;) {
      const start = firstInstant(date, this.#dates, (starts.at(-1) ?? 0) + ms);
      // A day that a zone left out has the start of the day after it.
      if (starts.at(-1) !== start) starts.push(start);
      if (start > moment + AHEAD_MS) return starts;
      date = after(date, dayOfMonth);
    }
  }
}

const tables = new Map<string, PeriodTable>();

/** Budgets with one rule have one table. */
export function periodsOf({ period, timeZone, dayOfMonth }: PeriodRule, now: number): PeriodTable {
  const key = `${period} ${timeZone} ${dayOfMonth}`;
  const known = tables.get(key);
  if (known) return known;
  if (tables.size >= MAX_TABLES) tables.clear();
  const table = new PeriodTable({ period, timeZone, dayOfMonth }, now);
  tables.set(key, table);
  return table;
}

function find(starts: readonly number[], moment: number): Span | undefined {
  let low = 0;
  let high = starts.length - 1;
  if (high < 1 || moment < starts[low]! || moment >= starts[high]!) return undefined;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= moment) low = middle;
    else high = middle;
  }
  return { start: starts[low]!, end: starts[high]! };
}

/** Node 24 has no Temporal: Intl is the only source of the rules of zones. */
function localDates(timeZone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  return (moment) => {
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    return Date.UTC(parts['year']!, parts['month']! - 1, parts['day']);
  };
}

/**
 * The first instant at which the zone's day is the wanted one or later. It is searched: a day may begin at 01:00, as in Santiago when summer
 * time begins, and a zone may leave a day out, as Apia did on 2011-12-30.
 * @param guess right for most days, which saves their search
 */
function firstInstant(wanted: number, dates: (moment: number) => number, guess: number): number {
  const hasBegun = (moment: number): boolean => dates(moment) >= wanted;
  if (Math.abs(guess - wanted) < WIDEST_MS && hasBegun(guess) && !hasBegun(guess - 1)) return guess;
  let before = wanted - WIDEST_MS;
  let begun = wanted + WIDEST_MS;
  while (begun - before > 1) {
    const middle = Math.floor((before + begun) / 2);
    if (hasBegun(middle)) begun = middle;
    else before = middle;
  }
  return begun;
}
