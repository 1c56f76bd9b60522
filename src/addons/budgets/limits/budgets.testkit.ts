import { nameOfCounter, type Budget, type TreeNode } from '../../../core/tenants/tree.ts';

/** A budget of a node with nothing else. */
export function budgetOf(amount: number, more: Partial<Omit<Budget, 'node'>> & { readonly ref?: string } = {}): Budget {
  const { ref = 'key:a', ...own } = more;
  const [kind, nodeId] = ref.split(':') as [TreeNode['kind'], string];
  const node: TreeNode = { kind, id: nodeId, ref, budgets: [], limits: undefined };
  const id = own.id ?? `${ref} ${own.period ?? 'total'} ${own.unit ?? 'usd'}`;
  const budget: Budget = {
    unit: 'usd',
    amount,
    id,
    name: nameOfCounter(id),
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
