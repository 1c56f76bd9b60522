import {
  oneOf,
  parse,
  required,
  UsageError,
  type Command,
  type FlagTable,
} from '../../core/commands/terminal/arguments.ts';
import { KINDS } from './kind.ts';

const NEW = {
  usage: `plugin new NAME [--kind ${KINDS.join('|')}] [--js]`,
  help: [
    'Write a plugin into the new folder NAME: code, a test, a README, and settings with the simulator to try it with',
    '--kind  middleware: works before and after the rest of a chain (default); text: changes texts;',
    '        guard: refuses requests; auth: knows the caller; cache: answers in place of a target;',
    '        exporter: gets the end of each request',
    '--js    JavaScript in place of TypeScript',
    'Exit code 0: written, 1: the folder exists, 2: wrong usage',
  ].join('\n'),
};

const NEW_FLAGS = {
  kind: { type: 'string', default: 'middleware' },
  js: { type: 'boolean', default: false },
} as const satisfies FlagTable;

const CHECK = {
  usage: 'plugin check PATH [--options FILE] [--json]',
  help: [
    'Check the rules that a plugin should follow, in a process of its own.',
    'PATH is a module, or the folder of its package',
    '--options FILE  YAML or JSON with the options to create it with; needed where the plugin has required options',
    '--json          print the findings as JSON',
    'Exit code 0: it follows all rules, 1: it breaks some, 2: wrong usage',
  ].join('\n'),
};

const CHECK_FLAGS = {
  options: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const satisfies FlagTable;

export const pluginCommands: readonly (readonly [string, Command])[] = [
  [
    'plugin new',
    {
      ...NEW,
      alone: true,
      async run(args, world) {
        const { values, positionals } = parse(args, NEW_FLAGS, 1);
        const name = required(positionals[0], 'plugin new needs a NAME');
        if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || name.length > 64)
          throw new UsageError(`NAME must be in kebab-case, such as mask-mail, not ${JSON.stringify(name)}`);
        const kind = oneOf('kind', values.kind, KINDS);
        const { newPlugin } = await import('./new-plugin.ts');
        return newPlugin({ name, kind, js: values.js }, world);
      },
    },
  ],
  [
    'plugin check',
    {
      ...CHECK,
      alone: true,
      async run(args, world) {
        const { values, positionals } = parse(args, CHECK_FLAGS, 1);
        const path = required(positionals[0], 'plugin check needs the PATH of a module, or of the folder of a package');
        const { checkCommand } = await import('./check-command.ts');
        return checkCommand({ path, optionsFile: values.options, json: values.json }, world);
      },
    },
  ],
  [
    'plugin hash',
    {
      usage: 'plugin hash PATH',
      alone: true,
      help: 'Print the hash of a plugin and the files that it imports by a path, for `integrity` in server.yaml',
      async run(args, world) {
        const path = required(parse(args, {}, 1).positionals[0], 'plugin hash needs the PATH of a file');
        return (await import('./hash-command.ts')).hashCommand(path, world);
      },
    },
  ],
];
