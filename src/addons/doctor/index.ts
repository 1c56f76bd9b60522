import type { AddOn } from '../../core/commands/add-on.ts';
import { configs, parse, UsageError, type Command } from '../../core/commands/terminal/arguments.ts';
import { parseDuration } from '../../core/kernel/units.ts';

const doctorCommands: readonly (readonly [string, Command])[] = [
  [
    'doctor',
    {
      usage: 'doctor [--configs DIR] [--offline | --probe] [--timeout 5s] [--json]',
      help: 'Check settings, credentials, the way to the providers, ports, clock, limits and versions. Sends nothing to models\n--offline  connect to nothing but this machine\n--probe  prove each credential with a list of models or a count of tokens; nothing is billed\nExit code 0: nothing is wrong, perhaps with warnings, 1: something is, 2: wrong usage',
      async run(args, world) {
        const flag = { type: 'boolean', default: false } as const;
        const options = {
          ...configs,
          offline: flag,
          probe: flag,
          json: flag,
          timeout: { type: 'string', default: '5s' },
        } as const;
        const { configs: dir, offline, probe: probes, json, timeout } = parse(args, options).values;
        if (!/^[1-9]\d{0,4}m?s$/.test(timeout))
          throw new UsageError(`--timeout must be a time such as 5s, not ${timeout}`);
        if (offline && probes) throw new UsageError('--probe sends calls, and --offline sends none: give one of them');
        const { doctorCommand } = await import('./doctor.ts');
        return doctorCommand({ ...world, dir, offline, probes, json, timeoutMs: parseDuration(timeout) });
      },
    },
  ],
];

/** `gatehouse doctor`: checks of the machine, the settings and the way to the providers. */
export const doctor: AddOn = {
  name: 'doctor',
  commands: doctorCommands,
  parts: () => import('./parts.ts'),
};
