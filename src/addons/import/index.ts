import type { AddOn } from '../../core/commands/add-on.ts';
import { parse, UsageError, type Command } from '../../core/commands/terminal/arguments.ts';

const HELP = {
  usage: 'import portkey|litellm FILE... --to DIR',
  help: [
    'Write a settings folder from files of another gateway, and list what it does not have, with the reason',
    'portkey  gateway configs, and lists of configs, providers and API keys of the admin API, as JSON',
    'litellm  config.yaml of the proxy, and lists of models, credentials, keys and teams of the admin API',
    'Secrets become references to variables. Exit code 0: written and valid, 1: not written, or errors, 2: wrong usage',
  ].join('\n'),
};

const importCommands: readonly (readonly [string, Command])[] = [
  [
    'import',
    {
      ...HELP,
      async run(args, world) {
        const { values, positionals } = parse(args, { to: { type: 'string' } }, 33);
        const [name = '', ...paths] = positionals;
        const { importCommand, KINDS } = await import('./import.ts');
        const kind = Object.keys(KINDS).find((one): one is keyof typeof KINDS => one === name);
        if (kind === undefined) throw new UsageError('import needs portkey or litellm, then a FILE');
        if (paths.length === 0) throw new UsageError(`import ${kind} needs a FILE`);
        if (values.to === undefined) throw new UsageError('import needs --to DIR, the new settings folder');
        return importCommand({ ...world, kind, paths, dir: values.to });
      },
    },
  ],
];

/** `gatehouse import`: settings from the files of other gateways. */
export const importer: AddOn = {
  name: 'import',
  commands: importCommands,
};
