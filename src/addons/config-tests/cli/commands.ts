import { oneOf, parse, type Command, type FlagTable, type World } from '../../../core/commands/terminal/arguments.ts';
import { showsColour } from '../../../core/commands/terminal/output.ts';

const HELP = {
  usage: 'test [DIR] [--filter TEXT] [--bail] [--reporter pretty|junit|github]',
  help: [
    'Run the tests in the settings folder (*.test.yaml), without a network. Default for DIR: configs',
    '--filter TEXT  only cases with TEXT in their name or file',
    '--bail         stop at the first failure',
    '--reporter     pretty: for people (default); junit: XML; github: annotations of GitHub Actions',
    'Exit code 0: all passed, 1: some failed, or errors in the files, 2: wrong usage, or no tests',
  ].join('\n'),
};

const TEST = {
  filter: { type: 'string' },
  bail: { type: 'boolean', default: false },
  reporter: { type: 'string', default: 'pretty' },
} as const satisfies FlagTable;

async function test(args: string[], world: World): Promise<number> {
  const { values, positionals } = parse(args, TEST, 1);
  const { filter, bail } = values;
  const reporter = oneOf('reporter', values.reporter, ['pretty', 'junit', 'github']);
  // Loaded here: only this command needs a gateway with fake upstreams.
  const { testCommand } = await import('./test.ts');
  return testCommand({ ...world, dir: positionals[0] ?? 'configs', reporter, filter, bail, color: showsColour(world) });
}

/** `gatehouse test`. */
export const testCommands: readonly (readonly [string, Command])[] = [['test', { ...HELP, run: test }]];
