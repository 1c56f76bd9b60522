import { allOf, api, ask } from '../../api/index.ts';
import type { BudgetObject } from '../../api/shapes.ts';
import { monthAfter, MOST_PARTS, rowsOf, type Split, type SplitCosts, type UsageRow } from './figures.ts';

export type CostFilters = Readonly<Partial<Record<Split, string>>>;

export interface CostQuestion {
  readonly month: string;
  readonly by: Split;
  readonly filters: CostFilters;
  readonly timeZone: string;
}

export interface Costs extends SplitCosts {
  /** Of as much of the month before, in nano-USD. */
  readonly before: number;
  /** By entry and model: tries without a price. */
  readonly unpriced: readonly UsageRow[];
  readonly budgets: readonly BudgetObject[];
}

/** The range and the filters as the API takes them. */
export const queryOf = ({ month, filters, timeZone }: Omit<CostQuestion, 'by'>): Record<string, string> => ({
  from: `${month}-01`,
  to: `${monthAfter(month, 1)}-01`,
  time_zone: timeZone,
  ...filters,
});

type Asked = Readonly<Record<string, string | readonly string[]>>;

interface UsagePage {
  readonly items: readonly UsageRow[];
  readonly next?: string;
}

const usage = (query: Asked, signal: AbortSignal): Promise<readonly UsageRow[]> =>
  // Labels are not in the document by their names, and the answer is JSON without a `format`.
  allOf(
    async (page) => (await ask(api.GET('/usage', { params: { query: { ...query, ...page } }, signal }))) as UsagePage,
  );

/** The month before, up to the same time of the month while this one runs. */
function earlier(question: CostQuestion, now: number): Asked {
  const { month, timeZone, filters } = question;
  const before = monthAfter(month, -1);
  const today = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short' }).format(now);
  const end = today.startsWith(month) ? `${before}-${today.slice(8)}` : `${month}-01`;
  const isDate = new Date(`${end}T00:00:00Z`).toISOString().startsWith(end);
  return { ...queryOf({ month: before, timeZone, filters }), to: isDate ? end : `${month}-01` };
}

/** Names have one sum each, and only the dearest one for each day: a month of 500 keys has 15,000 of these. */
export async function loadCosts(question: CostQuestion, signal: AbortSignal): Promise<Costs> {
  const { by } = question;
  const query = queryOf(question);
  const [names, earlierNames, days, unpriced, budgets] = await Promise.all([
    usage({ ...query, by, step: 'all' }, signal),
    usage({ ...earlier(question, Date.now()), by, step: 'all' }, signal),
    usage({ ...query, step: 'day' }, signal),
    usage({ ...query, by: 'provider,model', step: 'all', src: 'none' }, signal),
    allOf((page) => ask(api.GET('/budgets', { params: { query: page }, signal }))),
  ]);
  const rows = rowsOf(names, earlierNames, by);
  const dearest = rows.slice(0, MOST_PARTS).map(({ name }) => name);
  const parts = dearest.length === 0 ? [] : await usage({ ...query, by, step: 'day', [by]: dearest }, signal);
  const before = earlierNames.reduce((all, { nano }) => all + nano, 0);
  return { rows, days, parts, before, unpriced: unpriced.filter(({ attempts }) => attempts > 0), budgets };
}
