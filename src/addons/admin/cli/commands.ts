import type { Command } from '../../../core/commands/terminal/arguments.ts';

/** `gatehouse admin`. */
export const adminCommands: readonly (readonly [string, Command])[] = [
  [
    'admin',
    {
      usage: `admin RESOURCE ACTION [ID] [--url URL] [--token TOKEN | --token-file FILE] [--output table|json] [OPTIONS]
admin help`,
      help: 'Call the admin API of a running gateway: its keys, teams, budgets, usage, ledger, audit and tokens. `admin help`\nlists the calls. GATEHOUSE_ADMIN_URL and GATEHOUSE_ADMIN_TOKEN stand for --url and --token',
      async run(args, world) {
        const { adminCommand } = await import('./command.ts');
        return adminCommand(args, world);
      },
    },
  ],
];
