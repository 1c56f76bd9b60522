import { createReporter, type ReporterName } from '../report.ts';
import { hasFailed } from '../results.ts';
import { runTests } from '../run-tests.ts';
import { runCase } from '../runner.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { describe } from '../../../core/settings/source/diagnostic.ts';
import { diskFiles, type SettingsFiles } from '../../../core/settings/source/files.ts';
import type { Output } from '../../../core/commands/terminal/output.ts';

interface TestOptions extends Output {
  readonly dir: string;
  readonly reporter: ReporterName;
  readonly filter?: string | undefined;
  readonly bail: boolean;
  readonly color: boolean;
}

/** `gatehouse test`. Exit code 0: all cases passed; 1: some failed, or the files have errors; 2: no tests. */
export async function testCommand(options: TestOptions): Promise<0 | 1 | 2> {
  const { dir, filter, bail, out, err } = options;
  const reporter = createReporter(options.reporter, options);
  const end = await runTests({
    folder: dir,
    files: readOnce(diskFiles),
    clock: systemClock,
    filter,
    bail,
    runCase,
    onRead: (warnings) => warnings.length > 0 && err(warnings.map((one) => `${describe(one)}\n`).join('')),
    onResult: (result) => out(reporter.each(result)),
  });
  if (end.kind === 'nothing') {
    err(`gatehouse: ${end.message}\n`);
    return 2;
  }
  out(end.kind === 'ran' ? reporter.end(end) : reporter.broken(end.diagnostics));
  return end.kind === 'ran' && !end.results.some(hasFailed) ? 0 : 1;
}

/** Reads every file once, so that all cases of a run use the same settings even if files are saved meanwhile. */
const readOnce = (files: SettingsFiles): SettingsFiles => ({
  read: once((path, most) => files.read(path, most)),
  list: once((path) => files.list(path)),
});

function once<T, More extends unknown[]>(read: (path: string, ...more: More) => Promise<T>): typeof read {
  const known = new Map<string, Promise<T>>();
  return (path, ...more) => {
    const reading = known.get(path) ?? read(path, ...more);
    known.set(path, reading);
    return reading;
  };
}
