import type { AddOn } from '../../core/commands/add-on.ts';
import { pluginCommands } from './commands.ts';

/** `gatehouse plugin new` and `gatehouse plugin check`, for authors of plugins. */
export const pluginTools: AddOn = {
  name: 'plugin-tools',
  commands: pluginCommands,
  threads: ['src/addons/plugin-tools/check-process'],
};
