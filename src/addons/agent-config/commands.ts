import { parse, required, UsageError, type Command, type FlagTable } from '../../core/commands/terminal/arguments.ts';

const HELP = {
  usage: 'agent-config codex|claude|gemini|opencode [--url URL] [--key-env NAME] [--model MODEL]',
  help: [
    'Print the lines that point a coding agent at a gateway, for a shell. They have the limits of the model if the',
    'gateway answers. Without an answer they have none, and a note on stderr says so',
    '--url URL       address of the gateway; default: http://127.0.0.1:8787',
    '--key-env NAME  environment variable with the gateway key; default: GATEHOUSE_API_KEY',
    '--model MODEL   an alias of catalog.yaml, or @SLUG/MODEL; default: the word MODEL, for you to replace',
    'Exit code 0: printed, 1: the gateway does not have the model, 2: wrong usage, or no such agent',
  ].join('\n'),
};

const AGENT = {
  url: { type: 'string', default: 'http://127.0.0.1:8787' },
  'key-env': { type: 'string', default: 'GATEHOUSE_API_KEY' },
  model: { type: 'string' },
} as const satisfies FlagTable;

export const agentCommands: readonly (readonly [string, Command])[] = [
  [
    'agent-config',
    {
      ...HELP,
      async run(args, world) {
        const { values, positionals } = parse(args, AGENT, 1);
        const name = required(positionals[0], 'agent-config needs an agent: codex, claude, gemini or opencode');
        const { url, model, 'key-env': keyEnv } = values;
        if (!/^https?:\/\/[^\s/'"]+(?:\/[^\s'"]*)?$/.test(url))
          throw new UsageError(`--url must be an http URL, not ${url}`);
        if (!/^[A-Za-z_]\w*$/.test(keyEnv))
          throw new UsageError(`--key-env must be the name of a variable, not ${keyEnv}`);
        if (model !== undefined && /[\s'"\\]/.test(model))
          throw new UsageError(`--model must be the name of a model, not ${model}`);
        const { agentConfigCommand } = await import('./print.ts');
        return agentConfigCommand(name, { url: url.replace(/\/+$/, ''), keyEnv, model }, world);
      },
    },
  ],
];
