import type { Command } from '../../../core/commands/terminal/arguments.ts';
import { ledgerCommands } from './ledger/commands.ts';
import { priceCommands } from './prices/commands.ts';
import { stateCommands } from './state/commands.ts';

/** `gatehouse prices …`, `state …` and `ledger …`. */
export const budgetCommands: readonly (readonly [string, Command])[] = [
  ...priceCommands,
  ...stateCommands,
  ...ledgerCommands,
];
