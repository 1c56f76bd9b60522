import type { AddOn } from '../../core/commands/add-on.ts';
import { budgetCommands } from './cli/commands.ts';

/** Limits and budgets of keys, teams and organizations, prices, the ledger, the state store. */
export const budgets: AddOn = {
  name: 'budgets',
  commands: budgetCommands,
  threads: ['src/addons/budgets/store/sqlite/thread'],
  parts: () => import('./parts.ts'),
};
