import { createReporter, type Reporter, type ReporterName } from '../report.ts';
import { hasFailed, type TestsEnd } from '../results.ts';
import { noFolder, runTests, type TestRun } from '../run-tests.ts';
import { watchTests, OnceFiles } from '../watch-tests.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { describe } from '../../../core/settings/source/diagnostic.ts';
import { diskFiles, type SettingsFiles } from '../../../core/settings/source/files.ts';
import { watchFolder } from '../../../core/settings/source/watch.ts';
import type { Output } from '../../../core/commands/terminal/output.ts';

interface TestOptions extends Output {
  readonly dir: string;
  readonly reporter: ReporterName;
  readonly filter?: string | undefined;
  readonly bail: boolean;
  readonly color: boolean;
  readonly runCase: TestRun['runCase'];
}

/**
 * `gatehouse test`. Exit code 0: all cases passed; 1: some failed, or the settings or tests have errors; 2: there are
 * no tests.
 */
export async function testCommand(options: TestOptions): Promise<0 | 1 | 2> {
  const reporter = createReporter(options.reporter, options);
  const end = await runTests({ ...roundOf(options, reporter), files: new OnceFiles(diskFiles) });
  report(end, reporter, options);
  if (end.kind === 'nothing') return 2;
  return end.kind === 'ran' && !end.results.some(hasFailed) ? 0 : 1;
}

/** `gatehouse test --watch`. Resolves when stopped. Exit code 2: the folder does not exist. */
export async function watchTestsCommand(options: TestOptions, stopped: Promise<unknown>): Promise<0 | 2> {
  const { dir, out, err } = options;
  const folder = await diskFiles.list(dir);
  if (!('names' in folder)) {
    err(`gatehouse: ${noFolder(dir, folder)}\n`);
    return 2;
  }
  let isRunning = true;
  void stopped.then(() => (isRunning = false));
  const round = async (files: SettingsFiles, onRead: () => void): Promise<void> => {
    const reporter = createReporter(options.reporter, options);
    const run = roundOf(options, reporter);
    const onAllRead: TestRun['onRead'] = (warnings) => {
      onRead();
      run.onRead(warnings);
    };
    report(await runTests({ ...run, files, mayGoOn: () => isRunning, onRead: onAllRead }), reporter, options);
  };
  // File watchers do not keep the process alive, so this timer does.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await watchTests({
      clock: systemClock,
      watchFolder,
      round,
      stopped,
      onChange: (paths) => out(`\nchanged: ${paths.join(', ')}\n\n`),
      onWaiting: () => out('\nwaiting for changes; Ctrl-C ends\n'),
      onBlind: (place, error) => err(`gatehouse: cannot watch ${place}: ${String(error)}\n`),
    });
  } finally {
    clearInterval(alive);
  }
  return 0;
}

function roundOf({ dir, filter, bail, runCase, out, err }: TestOptions, reporter: Reporter) {
  return {
    folder: dir,
    clock: systemClock,
    filter,
    bail,
    runCase,
    onRead: (warnings) => warnings.length > 0 && err(warnings.map((one) => `${describe(one)}\n`).join('')),
    onResult: (result) => out(reporter.each(result)),
  } satisfies Omit<TestRun, 'files'>;
}

function report(end: TestsEnd, reporter: Reporter, { out, err }: Output): void {
  if (end.kind === 'ran') out(reporter.end(end));
  else if (end.kind === 'broken') out(reporter.broken(end.diagnostics));
  else err(`gatehouse: ${end.message}\n`);
}
