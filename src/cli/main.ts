#!/usr/bin/env node
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { checkSettings } from '../server/gateway.ts';
import { version } from '../server/version.ts';
import { loadSettings } from '../settings/load.ts';
import { createKeyCommand } from './keys.ts';
import { serveCommand } from './serve.ts';
import { simulatorCommand } from './simulator.ts';
import { validateCommand } from './validate.ts';

const USAGE = `Usage: gatehouse <command> [options]

  serve      [--configs DIR]
             Start the gateway. DIR holds server.yaml, catalog.yaml, keys.yaml and gateway/; default: configs
  validate   [--configs DIR] [--format pretty|json|github]
             Check the settings without starting. Exit code 0: fine, 1: mistakes, 2: wrong usage
  keys create --id NAME [--configs DIR] [--provider @SLUG]... [--expires MOMENT|90d]
             Make a gateway key and the YAML to paste
  simulator  [--port PORT]
             Run the simulated upstream by itself
  version    Print the version
`;

/** A call that cannot be understood: told with the usage, exit code 2. */
class UsageError extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;

const configs = { configs: { type: 'string', default: 'configs' } } as const satisfies Options;
const out = (text: string): void => void process.stdout.write(text);

const commands: Readonly<Record<string, (args: string[]) => number | Promise<number>>> = {
  serve: (args) => serveCommand({ configs: parse(args, configs).configs, env: process.env, out }),

  validate(args) {
    const { configs: dir, format } = parse(args, { ...configs, format: { type: 'string', default: 'pretty' } });
    if (format !== 'pretty' && format !== 'json' && format !== 'github')
      throw new UsageError(`--format must be pretty, json or github, not ${format}`);
    return validateCommand({ dir, format, env: process.env, out, passes: [(_, loaded) => checkSettings(loaded, dir)] });
  },

  async keys(args) {
    const [action, ...rest] = args;
    if (action !== 'create') throw new UsageError('keys needs an action: keys create');
    const {
      id,
      provider,
      expires,
      configs: dir,
    } = parse(rest, {
      ...configs,
      id: { type: 'string' },
      provider: { type: 'string', multiple: true },
      expires: { type: 'string' },
    });
    if (id === undefined) throw new UsageError('keys create needs --id NAME');
    const { settings } = await loadSettings(dir, { env: process.env });
    return createKeyCommand({
      id,
      out,
      taken: settings?.keys.keys.map((key) => key.id) ?? [],
      ...(provider && { providers: provider }),
      ...(expires !== undefined && { expires }),
    });
  },

  simulator(args) {
    const { port } = parse(args, { port: { type: 'string', default: '8789' } });
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) throw new UsageError(`--port must be a TCP port, not ${port}`);
    return simulatorCommand({ port: Number(port), out });
  },

  version() {
    out(`${version().version}\n`);
    return 0;
  },

  help() {
    out(USAGE);
    return 0;
  },
};

function parse<const O extends Options>(args: string[], options: O) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function run([name = 'help', ...args]: string[]): Promise<number> {
  const command = commands[name.replace(/^--?(?=help|version)/, '')];
  try {
    if (!command) throw new UsageError(`there is no command ${JSON.stringify(name)}`);
    return await command(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`gatehouse: ${error.message}\n\n${USAGE}`);
    return 2;
  }
}

process.exitCode = await run(process.argv.slice(2));
