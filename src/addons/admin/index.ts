import type { AddOn } from '../../core/commands/add-on.ts';
import type { Command } from '../../core/commands/terminal/arguments.ts';

const adminCommands: readonly (readonly [string, Command])[] = [
  [
    'admin',
    {
      usage: `admin RESOURCE ACTION [ID] [--url URL] [--token TOKEN | --token-file FILE] [--output table|json] [OPTIONS]
admin help`,
      help: 'Call the admin API of a running gateway: its keys, teams, budgets, usage, ledger, audit and tokens. `admin help`\nlists the calls. GATEHOUSE_ADMIN_URL and GATEHOUSE_ADMIN_TOKEN stand for --url and --token',
      async run(args, world) {
        const { adminCommand } = await import('./cli/command.ts');
        return adminCommand(args, world);
      },
    },
  ],
];

/** The admin listener, its API and `gatehouse admin`. */
export const admin: AddOn = {
  name: 'admin',
  commands: adminCommands,
  parts: () => import('./parts.ts'),
};
