import type { BudgetObject } from '../api/shapes.ts';
import { amount } from './format.ts';

/** From 0 to 1, or more where a budget is overspent. */
export const spentShare = ({ spent, cap }: BudgetObject): number | undefined =>
  spent === null || cap <= 0 ? undefined : spent / cap;

/** The spent part of a budget, and the rest. */
export function BudgetBar({ budget }: { readonly budget: BudgetObject }) {
  const share = spentShare(budget);
  const { unit, cap, spent } = budget;
  const tone = share === undefined || share < 0.8 ? '' : share < 1 ? 'warning' : 'failed';
  return (
    <span class="budget" title={`${budget.name}: ${amount(spent, unit)} of ${amount(cap, unit)}`}>
      <span class="bar">
        <i class={tone} style={{ width: `${Math.min(100, (share ?? 0) * 100)}%` }} />
      </span>
      <span class="mono second">
        {share === undefined
          ? `of ${amount(cap, unit)}`
          : `${amount(Math.max(0, cap - (spent ?? 0)), unit)} left of ${amount(cap, unit)}`}
      </span>
    </span>
  );
}
