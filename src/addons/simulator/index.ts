import type { AddOn } from '../../core/commands/add-on.ts';
import { simulatorCommands } from './cli/commands.ts';

/** The provider `simulator`, which answers like a model. */
export const simulator: AddOn = {
  name: 'simulator',
  commands: simulatorCommands,
  parts: () => import('./parts.ts'),
};
