import { amountText, nameOfBudget } from '../../compose/budgets/budget-texts.ts';
import type { Account } from '../../governance/accounts.ts';
import { bitsUpTo, type Alert } from '../../governance/alert.ts';

const NANO_PER_USD = 1e9;

/** The alert of a budget of which `percent` is spent and reserved. */
export function budgetAlert({ budget, span, used, held, others }: Account, percent: number): Alert {
  const { node, unit, amount, models, period, alerts } = budget;
  const inUnit = (value: number): number => (unit === 'usd' ? value / NANO_PER_USD : value);
  const name = nameOfBudget(budget);
  return {
    kind: 'budget',
    nodes: [node.ref],
    text: `The budget of ${name} has reached ${percent} % of ${amountText(unit, amount)}.`,
    data: {
      budget: name,
      percent,
      unit,
      cap: inUnit(amount),
      spent: inUnit(Math.max(0, used + others)),
      held: inUnit(held),
      period,
      ...(span.start > 0 && { period_start: new Date(span.start).toISOString() }),
      ...(span.end !== Infinity && { period_end: new Date(span.end).toISOString() }),
      ...(models && { models }),
    },
    once: { counter: { node: budget.id, period: span.start }, bits: bitsUpTo(alerts, percent) },
  };
}
