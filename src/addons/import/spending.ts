import type { DraftPart } from './draft.ts';
import { defined } from './names.ts';
import type { ForeignItem } from './source.ts';

const PERIODS: readonly (readonly [pattern: RegExp, period: string])[] = [
  [/^(?:1h|hourly)$/i, 'hour'],
  [/^(?:1d|24h|daily)$/i, 'day'],
  [/^(?:7d|1w|weekly)$/i, 'week'],
  [/^(?:1mo|30d|monthly)$/i, 'month'],
];

const NO_PERIOD =
  'is no period of a budget here, so this budget is not in force: write `budgets` with hour, day, week, month or total';

/** `max_budget`, `soft_budget` and `budget_duration` of a key, a team or the proxy. */
export function budgetsOf(item: ForeignItem): readonly DraftPart[] | undefined {
  const period = periodOf(item.get('budget_duration'));
  const hard = item.get('max_budget');
  const soft = item.get('soft_budget');
  const [cap, warning] = [capOf(hard), capOf(soft)];
  if (period === undefined) return undefined;
  if (cap === undefined) return warning === undefined ? undefined : [{ cap: warning, period, on_exceeded: 'warn' }];
  return [{ cap, period, ...alertsAt(warning === undefined ? 0 : Number(soft?.value), Number(hard?.value)) }];
}

/** The alert at a part of a cap, in percent. None where the part is no percentage of it. */
export function alertsAt(amount: number, cap: number): DraftPart {
  const percent = Math.round((100 * amount) / cap);
  return percent >= 1 && percent <= 100 ? { alerts: [percent] } : {};
}

/** Undefined, after a report: no period is the same. */
export function periodOf(item: ForeignItem | undefined): string | undefined {
  const text = item?.text();
  if (text === undefined) return 'total';
  const [, period] = PERIODS.find(([pattern]) => pattern.test(text)) ?? [];
  if (period === undefined) item?.lose(NO_PERIOD, 'guard');
  return period;
}

/** `12.5 USD`. Undefined: no number. */
export function capOf(item: ForeignItem | undefined): string | undefined {
  const usd = item?.number('guard');
  return usd === undefined ? undefined : `${decimal(usd)} USD`;
}

/** At most nine decimals, and no exponent. */
const decimal = (usd: number): string => usd.toFixed(9).replace(/\.?0+$/, '');

/** `rpm_limit`, `tpm_limit` and `max_parallel_requests`, or the names of a deployment. */
export function limitsOf(
  item: ForeignItem,
  names: { readonly requests: string; readonly tokens: string } = { requests: 'rpm_limit', tokens: 'tpm_limit' },
): DraftPart | undefined {
  const limits = defined({
    requests: rate(item.get(names.requests)),
    tokens: rate(item.get(names.tokens)),
    concurrency: whole(item.get('max_parallel_requests')),
  });
  return Object.keys(limits).length > 0 ? limits : undefined;
}

const rate = (item: ForeignItem | undefined): string | undefined => {
  const number = whole(item);
  return number === undefined ? undefined : `${number}/min`;
};

/** A whole number above 0. Undefined, after a report: another value. */
export function whole(item: ForeignItem | undefined): number | undefined {
  const number = item?.number('guard');
  if (number === undefined) return undefined;
  if (Number.isInteger(number) && number > 0) return number;
  return item?.lose('must be a whole number above 0', 'guard');
}
