import type { AddOn } from '../../core/commands/add-on.ts';
import { importCommands } from './commands.ts';

/** `gatehouse import`: settings from the files of other gateways. */
export const importer: AddOn = {
  name: 'import',
  commands: importCommands,
};
