import { parse, UsageError, type Command } from '../../../core/commands/terminal/arguments.ts';

/** `gatehouse simulator`: runs the simulated upstream alone until it is stopped. */
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
        const { startSimulator } = await import('../server.ts');
        const simulator = await startSimulator({ port: Number(port) });
        out(`The simulator listens on ${simulator.url}; its models are described in docs/providers/simulator.md\n`);
        await new Promise<void>((resolve) => process.once('SIGTERM', resolve).once('SIGINT', resolve));
        await simulator.close();
        return 0;
      },
    },
  ],
];
