import { buffer } from 'node:stream/consumers';
import { nearest } from '../plugin/nearest.ts';
import { handleUnhandledErrors } from '../process/process-faults.ts';
import { surviveOutputErrors } from '../process/output-errors.ts';
import { commands, UsageError, type Command, type World } from './commands.ts';

const world: World = {
  env: process.env,
  terminal: process.stdout.isTTY ? { columns: process.stdout.columns } : undefined,
  input: () => buffer(process.stdin),
  out: (more) => void process.stdout.write(more),
  err: (more) => void process.stderr.write(more),
};

const describe = ({ usage, help }: Command): string => `${indent(usage, 2)}${indent(help, 6)}`;

const indent = (text: string, by: number): string =>
  text
    .split('\n')
    .map((line) => `${' '.repeat(by)}${line}\n`)
    .join('');

/** Of the commands that begin with `words`; of all, without. */
function usage(words = ''): string {
  const chosen = [...commands].filter(([name]) => name === words || name.startsWith(`${words} `));
  const shown = chosen.length > 0 ? chosen.map(([, command]) => command) : [...commands.values()];
  return `Usage: gatehouse <command> [options]\n\n${shown.map(describe).join('')}`;
}

/** Two words where a command has two, as `keys list`. */
function find(args: readonly string[]): { readonly command: Command; readonly rest: string[] } {
  const [first = '', second = ''] = args;
  const name = first.replace(/^--?(?=version$)/, '');
  const two = commands.get(`${name} ${second}`);
  if (two) return { command: two, rest: args.slice(2) };
  const one = commands.get(name);
  if (one) return { command: one, rest: args.slice(1) };
  const actions = [...commands.keys()].filter((known) => known.startsWith(`${name} `));
  if (name !== '' && actions.length > 0) throw new UsageError(`${name} needs an action: ${actions.join(', ')}`);
  const meant = nearest(name, [...commands.keys()]);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  throw new UsageError(`there is no command ${JSON.stringify(first)}${hint}`);
}

const isHelp = (arg: string): boolean => arg === '-h' || arg === '--help';

async function run(args: readonly string[]): Promise<number> {
  const [first = 'help', ...words] = args;
  if (first === 'help' || args.some(isHelp)) {
    const asked =
      first === 'help'
        ? words
        : args.slice(
            0,
            args.findIndex((arg) => arg.startsWith('-')),
          );
    world.out(usage(asked.join(' ')));
    return 0;
  }
  try {
    const { command, rest } = find(args);
    return await command.run(rest, world);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const called = [args.slice(0, 2).join(' '), first].find((name) => commands.has(name));
    world.err(`gatehouse: ${error.message}\n\n${usage(called ?? first)}`);
    return 2;
  }
}

/** The command line, from the words to the exit code. */
export async function main(): Promise<void> {
  handleUnhandledErrors();
  const [command = ''] = process.argv.slice(2);
  if (command === 'serve') surviveOutputErrors();
  // Whoever reads along (`| head`) may stop when it has seen enough; the command has its work to end all the same.
  else
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  process.exitCode = await run(process.argv.slice(2));
  const limitMs = EXIT_LIMIT_MS[command];
  if (limitMs !== undefined) setTimeout(() => process.exit(), limitMs).unref();
}

/** Commands that end in this time when their work is done, whatever still waits in the process. */
const EXIT_LIMIT_MS: Readonly<Record<string, number>> = {
  // Tests make plugins that do not serve: a timer that one of them has left running holds no CI job up.
  test: 500,
  // Text for a standard output that is not read waits for ever, and a plugin may have left a connection open.
  serve: 1000,
};
