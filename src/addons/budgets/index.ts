import type { AddOn } from '../../core/commands/add-on.ts';
import { ledgerCommands } from './cli/ledger/commands.ts';
import { priceCommands } from './cli/prices/commands.ts';
import { stateCommands } from './cli/state/commands.ts';

/** Limits and budgets of keys, teams and organizations, prices, the ledger, the state store. */
export const budgets: AddOn = {
  name: 'budgets',
  commands: [...priceCommands, ...stateCommands, ...ledgerCommands],
  threads: ['src/addons/budgets/store/sqlite/thread'],
  parts: async () => (await import('./parts.ts')).parts,
};
