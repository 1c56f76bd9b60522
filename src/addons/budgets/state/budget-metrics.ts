import type { BudgetReports } from '../reserve/budget-state.ts';
import type { Budget } from '../../../core/tenants/tree.ts';
import type { Metrics } from '../../../core/record/metrics/registry.ts';

const NANO_PER_USD = 1e9;

const inUnit = ({ unit }: Budget, amount: number): number => (unit === 'usd' ? amount / NANO_PER_USD : amount);

/** Reports budgets as metrics. Their labels are of the settings, so that their number is bounded. */
export const budgetReports = ({ families }: Pick<Metrics, 'families'>): BudgetReports => ({
  level({ budget, used, held, others }) {
    const labels = { budget: budget.name, unit: budget.unit };
    families.budgetSpent.set(labels, inUnit(budget, Math.max(0, used + others)));
    families.budgetHeld.set(labels, inUnit(budget, held));
    families.budgetCap.set(labels, inUnit(budget, budget.amount));
  },
  refused: (budget, why) => families.budgetRefusals.add({ budget: budget?.name ?? '', why }),
  overrun: (what) => families.budgetOverruns.add({ what }),
  unpriced: () => families.budgetUnpriced.add({}),
  expired: (count) => families.budgetExpired.add({}, count),
  lost: () => families.budgetLeasesLost.add({}),
});
