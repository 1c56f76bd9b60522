const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The days of an IANA time zone whose offset is whole hours, so that hours of UTC add up to its days. */
export class ZoneDays {
  readonly #format: Intl.DateTimeFormat;
  /** By hours of UTC: they recur in thousands of sums. */
  readonly #offsets = new Map<number, number>();
  readonly #starts = new Map<number, number>();

  /** @throws RangeError there is no such zone */
  constructor(zone: string) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    this.#format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', { timeZone: zone, hourCycle: 'h23', ...fields });
  }

  /** Milliseconds ahead of UTC at the start of the hour of UTC that has the moment. */
  offsetAt(moment: number): number {
    const hour = Math.floor(moment / HOUR_MS) * HOUR_MS;
    let offset = this.#offsets.get(hour);
    if (offset === undefined) this.#offsets.set(hour, (offset = this.#localOf(hour) - hour));
    return offset;
  }

  #localOf(moment: number): number {
    const parts = this.#format.formatToParts(moment).map(({ type, value }) => [type, Number(value)] as const);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = Object.fromEntries(parts);
    return Date.UTC(year, month - 1, day, hour, minute);
  }

  /** The date of a moment, as the UTC midnight of that date. */
  dateOf(moment: number): number {
    return Math.floor((moment + this.offsetAt(moment)) / DAY_MS) * DAY_MS;
  }

  /** When a date begins. It is searched: a day may begin at 01:00, as in Santiago, and a zone may leave one out. @param date its UTC midnight */
  startOf(date: number): number {
    const known = this.#starts.get(date);
    if (known !== undefined) return known;
    let start = date - this.offsetAt(date);
    while (this.dateOf(start - HOUR_MS) >= date) start -= HOUR_MS;
    while (this.dateOf(start) < date) start += HOUR_MS;
    this.#starts.set(date, start);
    return start;
  }

  /** The first offset in the time that is not whole hours, in minutes. Undefined: all are. */
  brokenOffset(from: number, to: number): number | undefined {
    // Some zones have whole hours in one half of the year.
    for (let moment = from; moment < to + 30 * DAY_MS; moment += 30 * DAY_MS) {
      const offset = this.offsetAt(Math.min(moment, to));
      if (offset % HOUR_MS !== 0) return offset / 60_000;
    }
    return undefined;
  }
}
