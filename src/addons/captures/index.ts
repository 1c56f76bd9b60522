import type { AddOn } from '../../core/commands/add-on.ts';
import { captureCommands } from './cli/commands.ts';

/** Requests as they were, with the times of their bytes: captured for a while, served again to tests. */
export const captures: AddOn = {
  name: 'captures',
  commands: captureCommands,
  parts: () => import('./parts.ts'),
};
