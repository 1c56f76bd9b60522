import type { RequestBudgets } from '../../../core/kernel/index.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { NodeTree } from '../../../core/tenants/tree.ts';
import type { PricesInForce } from '../prices/prices-in-force.ts';
import { AttemptReservations } from './attempt-reservations.ts';
import { BudgetState } from './budget-state.ts';

interface BudgetsSetup {
  /** There are budgets, or the state store may get one. */
  readonly hasBudgets: boolean;
  readonly tree: NodeTree;
  readonly prices: PricesInForce;
  readonly clock: Clock;
  readonly whenDown: 'refuse' | 'allow';
  /** Undefined: counted from zero, for this snapshot alone. */
  readonly state: BudgetState | undefined;
}

const NO_BUDGETS: RequestBudgets = { reserve: () => undefined, preview() {} };

/** The budgets of a snapshot. */
export function composeBudgets({
  hasBudgets,
  tree,
  prices,
  clock,
  whenDown,
  state = new BudgetState({ clock }),
}: BudgetsSetup): RequestBudgets {
  const { accounting, learned, reports, ledger } = state;
  if (!hasBudgets && !ledger) return NO_BUDGETS;
  return new AttemptReservations({
    tree,
    prices,
    accounting,
    learned,
    clock,
    whenDown,
    onUnpriced: ({ id }, { model }) => state.unpriced(id, model),
    onRefused: (refusal) => state.refused(refusal),
    onOverrun: (what) => reports.overrun(what),
    ledger,
  });
}
