import type { Budget, TreeNode } from './tree.ts';

/** A budget of a node with nothing else. */
export function budgetOf(amount: number, more: Partial<Omit<Budget, 'node'>> & { readonly ref?: string } = {}): Budget {
  const { ref = 'key:a', ...own } = more;
  const [kind, id] = ref.split(':') as [TreeNode['kind'], string];
  const node: TreeNode = { kind, id, ref, budgets: [], limits: undefined };
  const budget: Budget = {
    unit: 'usd',
    amount,
    id: `${ref} ${own.period ?? 'total'} ${own.unit ?? 'usd'}`,
    node,
    period: 'total',
    timeZone: 'UTC',
    dayOfMonth: 1,
    hard: true,
    alerts: [],
    models: undefined,
    ...own,
  };
  return budget;
}
