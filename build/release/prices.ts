interface DatedRow {
  readonly id: string;
  readonly on: readonly string[];
  readonly p: readonly { readonly from?: string }[];
  readonly until_at_least?: string;
  /** The day on which the prices were looked up last. */
  readonly confirmed?: string;
}

/** data/models.json, as far as days go. */
export interface DatedTable {
  readonly as_of: string;
  readonly models: readonly DatedRow[];
}

/** A row of data/accepted-prices.json: a release may ship a price that is due. */
interface AcceptedPrice {
  readonly id: string;
  readonly on: readonly string[];
  /** The day that has come. */
  readonly due: string;
  readonly accepted: string;
  /** The last day of the exception. */
  readonly until: string;
  readonly reason: string;
}

export interface AcceptedPrices {
  readonly accepted: readonly AcceptedPrice[];
}

/** Problems refuse the release. Notes are printed with every release. */
export interface PriceCheck {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

interface DueRow {
  readonly id: string;
  readonly on: readonly string[];
  readonly day: string;
  readonly why: string;
}

/** An exception is renewed by a person who has looked again. */
const LONGEST_DAYS = 31;
const DAY_MS = 86_400_000;

/**
 * A day in data/models.json has come that no source had confirmed when the table was read: a price that was announced, or promised
 * until a day, must be looked up again then, or accepted by name, with the reason and an end.
 */
export function checkPrices(table: DatedTable, { accepted }: AcceptedPrices, today: string): PriceCheck {
  const due = dueRows(table, today);
  const isOf = (one: AcceptedPrice, row: DueRow): boolean =>
    one.id === row.id && one.due === row.day && row.on.every((provider) => one.on.includes(provider));
  const open = due.filter((row) => !accepted.some((one) => isOf(one, row)));
  return {
    problems: [
      ...open.map(textOf),
      ...accepted.flatMap((one) => {
        const row = due.find((each) => isOf(one, each));
        if (!row) return [`data/accepted-prices.json: ${one.id} of ${one.due} is not due; remove it`];
        if (daysBetween(one.accepted, one.until) > LONGEST_DAYS)
          return [`data/accepted-prices.json: ${one.id} is accepted for more than ${LONGEST_DAYS} days`];
        return one.until < today ? [`${textOf(row)}; it was accepted until ${one.until}`] : [];
      }),
    ],
    notes: accepted
      .filter(({ until }) => until >= today)
      .map(({ id, due: day, until, reason }) => `${id}, due since ${day}, is accepted until ${until}: ${reason}`),
  };
}

function dueRows({ as_of: asOf, models }: DatedTable, today: string): readonly DueRow[] {
  return models.flatMap(({ id, on, p, until_at_least: until, confirmed = '' }) => {
    // The sources saw the prices of days before they were read.
    const begun = p.flatMap(({ from = '' }) => (from > asOf && from > confirmed && from <= today ? [from] : []));
    const ended = until !== undefined && until < today && until >= confirmed ? [until] : [];
    return [
      ...begun.map((day) => ({ id, on, day, why: 'other prices were announced from' })),
      ...ended.map((day) => ({ id, on, day, why: 'its price was promised until' })),
    ];
  });
}

const textOf = ({ id, on, day, why }: DueRow): string => `${id} at ${on.join(', ')}: ${why} ${day}`;

const daysBetween = (from: string, until: string): number => (Date.parse(until) - Date.parse(from)) / DAY_MS;
