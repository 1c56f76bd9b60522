import { allOf, api, ask } from '../../api/index.ts';
import type { BudgetObject } from '../../api/shapes.ts';
import { monthAfter, type Split, type UsageRow } from './figures.ts';

export type CostFilters = Readonly<Partial<Record<Split, string>>>;

export interface CostQuestion {
  readonly month: string;
  readonly by: Split;
  readonly filters: CostFilters;
  readonly timeZone: string;
}

export interface Costs {
  readonly days: readonly UsageRow[];
  /** As much of the month before. */
  readonly before: readonly UsageRow[];
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

type Asked = Record<string, string>;

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

export async function loadCosts(question: CostQuestion, signal: AbortSignal): Promise<Costs> {
  const { by } = question;
  const query = queryOf(question);
  const [days, before, unpriced, budgets] = await Promise.all([
    usage({ ...query, by, step: 'day' }, signal),
    usage({ ...earlier(question, Date.now()), by, step: 'all' }, signal),
    usage({ ...query, by: 'provider,model', step: 'all', src: 'none' }, signal),
    allOf((page) => ask(api.GET('/budgets', { params: { query: page }, signal }))),
  ]);
  return { days, before, unpriced: unpriced.filter(({ attempts }) => attempts > 0), budgets };
}
