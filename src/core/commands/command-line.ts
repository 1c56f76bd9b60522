import { buffer } from 'node:stream/consumers';
import { nearest } from '../kernel/nearest.ts';
import { handleUnhandledErrors } from '../process/process-faults.ts';
import { surviveOutputErrors } from '../process/output-errors.ts';
import { UsageError, type Command, type World } from './terminal/arguments.ts';

const world: World = {
  env: process.env,
  terminal: process.stdout.isTTY ? { columns: process.stdout.columns } : undefined,
  input: () => buffer(process.stdin),
  out: (more) => void process.stdout.write(more),
  err: (more) => void process.stderr.write(more),
};

type Commands = ReadonlyMap<string, Command>;

const describe = ({ usage, help }: Command): string => `${indent(usage, 2)}${indent(help, 6)}`;

const indent = (text: string, by: number): string =>
  text
    .split('\n')
    .map((line) => `${' '.repeat(by)}${line}\n`)
    .join('');

/** The usage of commands that begin with `words`, or of all commands. */
function usage(commands: Commands, words = ''): string {
  const chosen = [...commands].filter(([name]) => name === words || name.startsWith(`${words} `));
  const shown = chosen.length > 0 ? chosen.map(([, command]) => command) : [...commands.values()];
  return `Usage: gatehouse <command> [options]\n\n${shown.map(describe).join('')}`;
}

/** Finds a command by its first word or two, such as `keys list`. */
function find(commands: Commands, args: readonly string[]): { readonly command: Command; readonly rest: string[] } {
  const [first = '', second = ''] = args;
  const name = first.replace(/^--?(?=version$)/, '');
  const two = commands.get(`${name} ${second}`);
  if (two) return { command: two, rest: args.slice(2) };
  const one = commands.get(name);
  if (one) return { command: one, rest: args.slice(1) };
  const actions = [...commands.keys()].filter((known) => known.startsWith(`${name} `));
  if (name !== '' && actions.length > 0) throw new UsageError(`${name} needs an action: ${actions.join(', ')}`);
  const suggestion = nearest(name, [...commands.keys()]);
  const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
  throw new UsageError(`there is no command ${JSON.stringify(first)}${hint}`);
}

async function run(args: readonly string[], commands: Commands, prepare: () => Promise<void>): Promise<number> {
  const [first = 'help', ...words] = args;
  if (first === 'help' || args.some((arg: string): boolean => arg === '-h' || arg === '--help')) {
    const topic =
      first === 'help'
        ? words
        : args.slice(
            0,
            args.findIndex((arg) => arg.startsWith('-')),
          );
    world.out(usage(commands, topic.join(' ')));
    return 0;
  }
  try {
    const { command, rest } = find(commands, args);
    if (!command.alone) await prepare();
    return await command.run(rest, world);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const called = [args.slice(0, 2).join(' '), first].find((name) => commands.has(name));
    world.err(`gatehouse: ${error.message}\n\n${usage(commands, called ?? first)}`);
    return 2;
  }
}

/**
 * Runs the command line and sets the exit code.
 * @param prepare loads the add-ons; `version` and `help` do not wait for it
 */
export async function main(commands: Commands, prepare: () => Promise<void>): Promise<void> {
  handleUnhandledErrors();
  const [command = ''] = process.argv.slice(2);
  if (command === 'serve') surviveOutputErrors();
  // The reader of a pipe (`| head`) may close it early. The command must still finish its work.
  else
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  process.exitCode = await run(process.argv.slice(2), commands, prepare);
  const limitMs = EXIT_LIMIT_MS[command];
  if (limitMs !== undefined) setTimeout(() => process.exit(), limitMs).unref();
}

/** Time after which a finished command exits, whatever is still pending in the process. */
const EXIT_LIMIT_MS: Readonly<Record<string, number>> = {
  // Config tests create plugins: a timer that one leaves running must not delay a CI job.
  test: 500,
  validate: 500,
  explain: 500,
  // Unread standard output would stay pending forever, and a plugin may have left a connection open.
  serve: 1000,
};
