import type { AddOn } from '../../core/commands/add-on.ts';
import { adminCommands } from './cli/commands.ts';

/** The admin listener, its API and `gatehouse admin`. */
export const admin: AddOn = {
  name: 'admin',
  commands: adminCommands,
  parts: async () => (await import('./parts.ts')).parts,
};
