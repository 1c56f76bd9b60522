import { expect, test } from 'vitest';
import type { TeamsFile } from '../../../../schemas/types.generated.ts';
import { Tenants } from '../../../core/settings/compile/tenants.ts';

const key = (id: string, team?: string) => ({ id, digest: `sha256:${'b'.repeat(64)}`, ...(team && { team }) });
const treeOf = (teams: TeamsFile, team?: string): Tenants => Tenants.of({ teams, keys: { keys: [key('a', team)] } });

test('a budget is named after what it counts, in any order of its models', () => {
  const tree = treeOf(
    { teams: { alone: { budgets: [{ cap: '100 tokens', period: 'day', alerts: [90, 10], models: ['b', 'a*'] }] } } },
    'alone',
  );
  expect(tree.pathOf({ keyId: 'a' })[0]?.budgets).toMatchObject([
    {
      id: 'team:alone day tokens a*,b',
      amount: 100,
      unit: 'tokens',
      timeZone: 'UTC',
      dayOfMonth: 1,
      hard: true,
      alerts: [10, 90],
    },
  ]);
});

test('a tree of keys shows whether any node has budgets or limits', () => {
  const tree = treeOf({
    organizations: { acme: { budgets: [{ cap: '5000 USD', period: 'month' }] } },
    teams: { search: { organization: 'acme', limits: { requests: '600/min' } } },
  });
  expect([tree.hasBudgets, tree.hasLimits]).toEqual([true, true]);
  const bare = treeOf({});
  expect([bare.hasBudgets, bare.hasLimits]).toEqual([false, false]);
});
