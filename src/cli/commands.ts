import { addOns } from '../addons/index.ts';
import type { Command } from '../core/commands/terminal/arguments.ts';
import { coreCommands } from '../core/commands/commands.ts';

export const commands: ReadonlyMap<string, Command> = new Map([
  ...coreCommands,
  ...addOns.flatMap(({ commands = [] }) => commands),
]);
