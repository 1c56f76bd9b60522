import { parse, UsageError, type Command } from '../../../core/commands/terminal/arguments.ts';

/** `gatehouse simulator`. */
export const simulatorCommands: readonly (readonly [string, Command])[] = [
  [
    'simulator',
    {
      usage: 'simulator [--port PORT]',
      help: 'Run the simulated upstream alone',
      async run(args, { out }) {
        const { port } = parse(args, { port: { type: 'string', default: '8789' } }).values;
        if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
          throw new UsageError(`--port must be a TCP port, not ${port}`);
        const { simulatorCommand } = await import('./simulator.ts');
        return simulatorCommand({ port: Number(port), out });
      },
    },
  ],
];
