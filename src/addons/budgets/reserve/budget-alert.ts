import { amountText } from './budget-refusal.ts';
import type { Account } from '../limits/accounts.ts';
import { bitsUpTo, EXHAUSTED_BIT, type Alert } from '../../../core/ports/alert.ts';

const NANO_PER_USD = 1e9;

/** The alert of a budget of which `percent` is spent and reserved. */
export function budgetAlert(account: Account, percent: number): Alert {
  const { name, unit, amount, alerts } = account.budget;
  const text = `The budget ${name} has reached ${percent} % of ${amountText(unit, amount)}.`;
  return { ...about(account, percent, bitsUpTo(alerts, percent)), kind: 'budget', text };
}

/** The alert of the first refusal of a period. @param reserve the amount that did not fit */
export function exhaustedAlert(account: Account, reserve: number): Alert {
  const { budget } = account;
  const percent = Math.floor(Math.min(account.percent, 1000));
  const { data, ...rest } = about(account, percent, [EXHAUSTED_BIT]);
  const text = `The budget ${budget.name} refuses requests: ${percent} % of ${amountText(budget.unit, budget.amount)} are spent and reserved, and a request needs ${amountText(budget.unit, reserve)}.`;
  return { ...rest, kind: 'exhausted', text, data: { ...data, reserve: inUnit(budget.unit, reserve) } };
}

const inUnit = (unit: Account['budget']['unit'], value: number): number =>
  unit === 'usd' ? value / NANO_PER_USD : value;

function about({ budget, span, used, held, others }: Account, percent: number, bits: readonly number[]) {
  const { name, node, unit, amount, models, period } = budget;
  return {
    nodes: [node.ref],
    data: {
      budget: name,
      percent,
      unit,
      cap: inUnit(unit, amount),
      spent: inUnit(unit, Math.max(0, used + others)),
      held: inUnit(unit, held),
      period,
      ...(span.start > 0 && { period_start: new Date(span.start).toISOString() }),
      ...(span.end !== Infinity && { period_end: new Date(span.end).toISOString() }),
      ...(models && { models }),
    },
    once: { counter: { node: budget.id, period: span.start }, bits },
  };
}
