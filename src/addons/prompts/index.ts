import type { AddOn } from '../../core/commands/add-on.ts';
import { promptCommands } from './cli/commands.ts';

/** The prompt library: templates, versions, labels. */
export const prompts: AddOn = {
  name: 'prompts',
  commands: promptCommands,
  parts: () => import('./parts.ts'),
};
