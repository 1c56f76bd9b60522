import type { AddOn } from '../../core/commands/add-on.ts';
import { testCommands } from './cli/commands.ts';

/** `gatehouse test`: cases in YAML, run through the real gateway without a network. */
export const configTests: AddOn = {
  name: 'config-tests',
  commands: testCommands,
  parts: () => import('./parts.ts'),
};
