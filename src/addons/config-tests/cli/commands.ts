import {
  oneOf,
  parse,
  UsageError,
  type Command,
  type Options,
  type World,
} from '../../../core/commands/terminal/arguments.ts';
import { showsColour } from '../../../core/commands/terminal/output.ts';

const HELP = {
  usage: 'test [DIR] [--filter TEXT] [--bail] [--reporter pretty|junit|github] [--watch]',
  help: [
    'Run the tests in the settings folder (*.test.yaml), without a network. Default for DIR: configs',
    '--filter TEXT  only cases with TEXT in their name or file',
    '--bail         stop at the first failure',
    '--reporter     pretty: for people (default); junit: XML; github: annotations of GitHub Actions',
    '--watch        run again when a file changes',
    'Exit code 0: all passed, 1: some failed, or errors in the files, 2: wrong usage, or no tests',
  ].join('\n'),
};

const TEST = {
  filter: { type: 'string' },
  bail: { type: 'boolean', default: false },
  reporter: { type: 'string', default: 'pretty' },
  watch: { type: 'boolean', default: false },
} as const satisfies Options;

async function test(args: string[], world: World): Promise<number> {
  const { values, positionals } = parse(args, TEST, 1);
  const { filter, bail, watch } = values;
  const reporter = oneOf('reporter', values.reporter, ['pretty', 'junit', 'github']);
  if (watch && reporter !== 'pretty') throw new UsageError('--watch works only with --reporter pretty');
  // Loaded here: only this command needs a gateway with fake upstreams.
  const [{ testCommand, watchTestsCommand }, { runCase }, { stopSignal }, { systemClock }] = await Promise.all([
    import('./test.ts'),
    import('../runner.ts'),
    import('../../../core/commands/stop-signals.ts'),
    import('../../../core/kernel/system-clock.ts'),
  ]);
  const color = showsColour(world);
  const options = { ...world, dir: positionals[0] ?? 'configs', reporter, filter, bail, color, runCase };
  if (!watch) return testCommand(options);
  const stopped = stopSignal(process, systemClock, () => process.exit(1));
  return watchTestsCommand(options, stopped);
}

/** `gatehouse test`. */
export const testCommands: readonly (readonly [string, Command])[] = [['test', { ...HELP, run: test }]];
