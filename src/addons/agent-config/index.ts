import type { AddOn } from '../../core/commands/add-on.ts';
import { agentCommands } from './commands.ts';

/** `gatehouse agent-config`: the lines that point a coding agent at a gateway. */
export const agentConfig: AddOn = {
  name: 'agent-config',
  commands: agentCommands,
};
