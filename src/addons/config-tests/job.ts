import { systemClock } from '../../core/kernel/system-clock.ts';
import { filesOf, type SettingsTrial } from '../../core/process/settings-trial.ts';
import { loadSettings } from '../../core/settings/read/load.ts';
import { describe } from '../../core/settings/source/diagnostic.ts';
import { diskFiles, type FolderRead, type SettingsFiles } from '../../core/settings/source/files.ts';
import { isTests } from '../../core/settings/source/find-files.ts';
import { relative } from 'node:path';
import { diffOf, hasFailed, headOf, type CaseResult } from './results.ts';
import { runTests } from './run-tests.ts';
import { runCase } from './runner.ts';

interface TestsInput extends SettingsTrial {
  readonly filter: string | undefined;
}

const MAX_DIFFERENCES = 50;

/** Runs the tests of a folder with texts in the place of settings, or of tests. Events: `case`, `done`. */
export async function* testsJob(input: unknown): AsyncGenerator<object> {
  // The gateway that asks is of this build.
  const trial = input as TestsInput;
  const { folder, filter } = trial;
  const { before, after } = filesOf(trial);
  const files = withTests(after, trial);
  const unknown = await newModules(folder, before, files);
  if (unknown.length > 0)
    return yield done([`not run: the plugin ${unknown[0]} is not among those in force, and texts load no module`]);
  const results: CaseResult[] = [];
  const end = await runTests({
    folder,
    files,
    clock: systemClock,
    filter: filter === '' ? undefined : filter,
    bail: false,
    runCase,
    onResult: (result) => void results.push(result),
  });
  for (const result of results) yield { event: 'case', data: caseOf(result, folder) };
  if (end.kind === 'nothing') return yield done([end.message]);
  if (end.kind === 'broken')
    return yield done(end.diagnostics.map((one) => describe({ ...one, file: relative(folder, one.file) })));
  const failed = results.filter(hasFailed).length;
  yield done([], { passed: results.length - failed, failed });
}

const done = (problems: readonly string[], counts = { passed: 0, failed: 0 }): object => ({
  event: 'done',
  data: { ...counts, ...(problems.length > 0 && { problems: problems.slice(0, MAX_DIFFERENCES) }) },
});

const caseOf = (result: CaseResult, folder: string): object => ({
  file: relative(folder, result.file),
  line: result.place.line,
  name: result.name,
  ok: !hasFailed(result),
  differences: result.failures.slice(0, MAX_DIFFERENCES).map((failure) => ({
    line: failure.line,
    column: failure.column,
    what: headOf(failure),
    ...Object.fromEntries(diffOf(failure)),
  })),
});

/** The tests of the folder beside its settings: a gateway that serves does not read them. */
function withTests(settings: SettingsFiles, { texts, folder }: TestsInput): SettingsFiles {
  const isRead = (path: string): boolean => isTests(path) && !Object.hasOwn(texts, relative(folder, path));
  return {
    ...settings,
    async read(path) {
      // Who runs tests may not have the right to read the texts of requests.
      if (path.endsWith('.jsonl')) return { problem: 'is a capture, which only `gatehouse test` reads' };
      return (isRead(path) ? diskFiles : settings).read(path);
    },
    async list(path): Promise<FolderRead> {
      const [known, onDisk] = [await settings.list(path), await diskFiles.list(path)];
      if (!('names' in known) || !('names' in onDisk)) return known;
      return { ...known, names: [...new Set([...known.names, ...onDisk.names.filter(isTests)])] };
    },
  };
}

/** Modules of plugins that the texts name, and that the settings in force do not. */
async function newModules(folder: string, now: SettingsFiles, then: SettingsFiles): Promise<readonly string[]> {
  const modulesOf = async (files: SettingsFiles): Promise<readonly string[]> => {
    const { settings } = await loadSettings(folder, { env: {}, files, fakeMissing: true });
    return (settings?.server.plugins ?? []).map((entry) => (typeof entry === 'string' ? entry : entry.module));
  };
  const inForce = new Set(await modulesOf(now));
  return (await modulesOf(then)).filter((module) => !inForce.has(module));
}
